/** The names and list indexes that lead to a field of a document. */
export type DocumentPath = readonly (string | number)[]

/** `spec.config["batch.size"]`, `spec.references[0].name`. */
export function formatDocumentPath(path: DocumentPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    if (!/^[A-Za-z_$][\w$-]*$/.test(part)) return `${text}[${JSON.stringify(part)}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
}
