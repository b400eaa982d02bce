/**
 * Parses a JSON pointer (RFC 6901) such as `/data/items` into its steps. An empty text refers to the whole document.
 * Throws an `Error` if the text is not a pointer.
 */
export function parsePointer(text: string): readonly string[] {
  if (text === '') return []
  if (!text.startsWith('/')) throw new Error(`'${text}' is not a JSON pointer: expected a form such as /a/b`)
  return text
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the value at the path, or undefined if it does not exist. */
export function follow(value: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((current, step) => {
    const isObject = typeof current === 'object' && current !== null && Object.hasOwn(current, step)
    return isObject ? (current as Readonly<Record<string, unknown>>)[step] : undefined
  }, value)
}
