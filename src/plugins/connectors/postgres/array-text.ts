import { DataError } from '../../../sdk/index.ts'
import { quoteEnd, unescaped } from './quoted-text.ts'

/** An item without quotes. */
const WORD = /[^,{}"]+/y

/**
 * Parses PostgreSQL's text form of a one-dimensional array. An unquoted `NULL` becomes null. Throws a `DataError` for a
 * multidimensional array, which a Connect array schema cannot describe.
 */
export function itemsFromText(text: string): readonly (string | null)[] {
  const start = text.indexOf('{') + 1
  const items: (string | null)[] = []
  for (let at = start; at > 0 && text[at] !== '}' && at < text.length; at += text[at] === ',' ? 1 : 0) {
    if (text[at] === '"') {
      const end = quoteEnd(text, at + 1)
      items.push(unescaped(text.slice(at + 1, end)))
      at = end + 1
    } else {
      const word = wordAt(text, at)
      items.push(word === 'NULL' ? null : word)
      at += word.length
    }
  }
  return items
}

function wordAt(text: string, at: number): string {
  WORD.lastIndex = at
  const [word] = WORD.exec(text) ?? []
  if (word !== undefined) return word
  throw new DataError(
    'a multidimensional array has no Connect schema: unnest it or cast it to json in a view or a query',
  )
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
