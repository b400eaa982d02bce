import { DataError } from '../../../sdk/index.ts'

/** What stands between quotes, with its escapes, or plainly. */
const ITEM = /"((?:[^"\\]|\\.)*)"|([^,{}"]+)/sy

/**
 * Reads PostgreSQL's text of an array of one dimension. An item that is `NULL` is null. Throws a `DataError` for an array
 * of arrays, which a schema of items can't tell.
 */
export function itemsFromText(text: string): readonly (string | null)[] {
  const start = text.indexOf('{') + 1
  const items: (string | null)[] = []
  for (let at = start; at > 0 && text[at] !== '}' && at < text.length; at += text[at] === ',' ? 1 : 0) {
    ITEM.lastIndex = at
    const [, inQuotes, plain] = ITEM.exec(text) ?? []
    if (inQuotes === undefined && plain === undefined) {
      throw new DataError('an array of arrays fits no schema: unnest it, or cast it to json, in a view or a query')
    }
    items.push(inQuotes === undefined ? (plain === 'NULL' ? null : plain!) : inQuotes.replace(/\\(.)/gs, '$1'))
    at = ITEM.lastIndex
  }
  return items
}

/** The text of an array of these items; items that are arrays themselves have to be of one length. */
export function textFromItems(items: readonly (string | null)[]): string {
  let text = '{'
  for (const item of items) {
    if (text.length > 1) text += ','
    text += item === null ? 'NULL' : `"${ESCAPED.test(item) ? item.replace(/["\\]/g, '\\$&') : item}"`
  }
  return `${text}}`
}

const ESCAPED = /["\\]/
