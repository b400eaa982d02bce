import { DataError } from '../../../sdk/index.ts'

// Items in quotes, with a backslash before each quote and backslash, as in the text of arrays and `hstore`. A regular expression with
// an alternative for each character would exceed the stack for items of a few megabytes.

/** The index of the closing quote of the item that begins at `start`. Throws a `DataError` if there is none. */
export function quoteEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  if (at >= text.length) throw new DataError('the text ends within a quoted item')
  return at
}

export function unescaped(text: string): string {
  return text.includes('\\') ? text.replace(/\\(.)/gs, '$1') : text
}
