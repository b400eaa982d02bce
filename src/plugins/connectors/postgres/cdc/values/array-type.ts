import { array, DataError, optional } from '../../../../../sdk/index.ts'
import type { ValueType } from '../../../cdc/values/value-type.ts'
import { quoteEnd, unescaped } from '../../quoted-text.ts'

/**
 * An array of a type. A Connect schema has no number of dimensions, so the items of a multidimensional array are one list, in
 * the order of the text.
 */
export function arrayType(item: ValueType, toItems: (text: string) => readonly (string | null)[]): ValueType {
  const { decode, isRequiredItem = false } = item
  return {
    schema: array(isRequiredItem ? item.schema : optional(item.schema)),
    decode(text) {
      const items: unknown[] = []
      for (const cell of toItems(text)) {
        if (cell === null && isRequiredItem) return null
        items.push(cell === null ? null : decode(cell))
      }
      return items
    },
  }
}

/** The items of the text of an array, in order. An unquoted `NULL` is null. */
export function arrayItems(text: string, delimiter = ','): readonly (string | null)[] {
  const items: (string | null)[] = []
  // An array whose first index is not 1 begins with its bounds: `[2:3]={5,6}`.
  let at = text.indexOf('{')
  if (at < 0 || !text.endsWith('}')) throw new DataError('the text is not an array')
  for (at += 1; at < text.length; ) {
    const mark = text[at]!
    if (mark === '{' || mark === '}' || mark === delimiter) {
      at += 1
    } else if (mark === '"') {
      const end = quoteEnd(text, at + 1)
      items.push(unescaped(text.slice(at + 1, end)))
      at = end + 1
    } else {
      const end = wordEnd(text, at, delimiter)
      const word = text.slice(at, end)
      items.push(word === 'NULL' ? null : word)
      at = end
    }
  }
  return items
}

/** The items of an `int2vector` or `oidvector`: `1 2 3`. */
export function vectorItems(text: string): readonly string[] {
  return text === '' ? [] : text.split(' ')
}

function wordEnd(text: string, start: number, delimiter: string): number {
  let at = start
  while (at < text.length && text[at] !== delimiter && text[at] !== '}') at += 1
  return at
}
