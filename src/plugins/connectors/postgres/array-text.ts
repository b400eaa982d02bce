import { DataError } from '../../../sdk/index.ts'

/** One array item: a quoted string with escapes, or an unquoted word. */
const ITEM = /"((?:[^"\\]|\\.)*)"|([^,{}"]+)/sy

/**
 * Parses PostgreSQL's text form of a one-dimensional array. An unquoted `NULL` becomes null. Throws a `DataError` for a
 * multidimensional array, which a Connect array schema cannot describe.
 */
export function itemsFromText(text: string): readonly (string | null)[] {
  const start = text.indexOf('{') + 1
  const items: (string | null)[] = []
  for (let at = start; at > 0 && text[at] !== '}' && at < text.length; at += text[at] === ',' ? 1 : 0) {
    ITEM.lastIndex = at
    const [, inQuotes, plain] = ITEM.exec(text) ?? []
    if (inQuotes === undefined && plain === undefined) {
      throw new DataError(
        'a multidimensional array has no Connect schema: unnest it or cast it to json in a view or a query',
      )
    }
    items.push(inQuotes === undefined ? (plain === 'NULL' ? null : plain!) : inQuotes.replace(/\\(.)/gs, '$1'))
    at = ITEM.lastIndex
  }
  return items
}

/** Returns PostgreSQL's text form of an array. Items that are themselves arrays must all have the same length. */
export function textFromItems(items: readonly (string | null)[]): string {
  let text = '{'
  for (const item of items) {
    if (text.length > 1) text += ','
    text += item === null ? 'NULL' : `"${ESCAPED.test(item) ? item.replace(/["\\]/g, '\\$&') : item}"`
  }
  return `${text}}`
}

const ESCAPED = /["\\]/
