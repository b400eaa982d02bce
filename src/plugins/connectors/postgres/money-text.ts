/** The number in a text of the type `money`: without the currency and the separators of thousands of any locale. */
export function moneyNumber(text: string): string {
  // A locale may have its decimal separator only before two digits.
  const [, whole = '', fraction = ''] = /^(.*?)(?:[.,](\d\d))?\D*$/s.exec(text) ?? []
  const isNegative = text.includes('-') || text.includes('(')
  return `${isNegative ? '-' : ''}${whole.replace(/\D/g, '')}${fraction && `.${fraction}`}`
}
