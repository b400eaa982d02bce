import { inHashOrder } from '../../../../../java-compat/hash-order.ts'
import { DataError, map, OPTIONAL_STRING, STRING } from '../../../../../sdk/index.ts'
import { named, type ValueType } from '../../../cdc/values/value-type.ts'
import { quoteEnd, unescaped } from '../../quoted-text.ts'

export function hstoreType(mode: 'json' | 'map'): ValueType {
  if (mode === 'map') return { schema: map(STRING, OPTIONAL_STRING), decode: pairsFromText }
  return {
    ...named('io.debezium.data.Json', { schema: STRING, decode: (text) => jsonFromPairs(pairsFromText(text)) }),
    zero: '{}',
    unavailable: (placeholder) => jsonFromPairs(new Map([[placeholder, placeholder]])),
  }
}

/** `"key"=>"value", "key"=>NULL`. */
function pairsFromText(text: string): Map<string, string | null> {
  const pairs = new Map<string, string | null>()
  for (let at = 0; at < text.length; ) {
    const keyEnd = quotedEnd(text, at)
    const key = unescaped(text.slice(at + 1, keyEnd))
    at = expectAt(text, '=>', keyEnd + 1)
    const isNull = text.startsWith('NULL', at)
    const valueEnd = isNull ? at + 3 : quotedEnd(text, at)
    pairs.set(key, isNull ? null : unescaped(text.slice(at + 1, valueEnd)))
    at = valueEnd + 1 === text.length ? text.length : expectAt(text, ', ', valueEnd + 1)
  }
  return pairs.size < 2 ? pairs : inDebeziumOrder(pairs)
}

/** The index of the closing quote of a quoted item. */
function quotedEnd(text: string, at: number): number {
  return quoteEnd(text, expectAt(text, '"', at))
}

/** The index after the delimiter that is expected at this index. */
function expectAt(text: string, mark: string, at: number): number {
  if (text.startsWith(mark, at)) return at + mark.length
  throw new DataError(`the text of an hstore is not valid at character ${at}`)
}

/** Debezium's order is that of a Java map. Consumers may compare the text. */
function inDebeziumOrder(pairs: ReadonlyMap<string, string | null>): Map<string, string | null> {
  return new Map(inHashOrder([...pairs.keys()]).map((key) => [key, pairs.get(key)!]))
}

function jsonFromPairs(pairs: ReadonlyMap<string, string | null>): string {
  const members = [...pairs].map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
  return `{${members.join(',')}}`
}
