/** A JSON pointer (RFC 6901) as its steps: `/data/items`, or nothing for the whole. Throws an `Error`. */
export function parsePointer(text: string): readonly string[] {
  if (text === '') return []
  if (!text.startsWith('/')) throw new Error(`'${text}' is no JSON pointer: expected /a/b`)
  return text
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** What is there; undefined where nothing is. */
export function follow(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((at, step) => {
    const isObject = typeof at === 'object' && at !== null && Object.hasOwn(at, step)
    return isObject ? (at as Readonly<Record<string, unknown>>)[step] : undefined
  }, value)
}
