import { inHashOrder } from '../../../../../java-compat/hash-order.ts'
import { DataError, map, OPTIONAL_STRING, STRING } from '../../../../../sdk/index.ts'
import { named, type ValueType } from './value-type.ts'

/** `"key"=>"value"` or `"key"=>NULL`, with backslashes before quotes and backslashes. */
const PAIR = /"((?:[^"\\]|\\.)*)"=>(?:NULL|"((?:[^"\\]|\\.)*)")(?:, |$)/sy

export function hstoreType(mode: 'json' | 'map'): ValueType {
  if (mode === 'map') return { schema: map(STRING, OPTIONAL_STRING), decode: pairsFromText }
  return {
    ...named('io.debezium.data.Json', { schema: STRING, decode: (text) => jsonFromPairs(pairsFromText(text)) }),
    zero: '{}',
    unavailable: (placeholder) => jsonFromPairs(new Map([[placeholder, placeholder]])),
  }
}

function pairsFromText(text: string): Map<string, string | null> {
  const pairs = new Map<string, string | null>()
  for (let at = 0; at < text.length; at = PAIR.lastIndex) {
    PAIR.lastIndex = at
    const match = PAIR.exec(text)
    if (match === null) throw new DataError(`the text of an hstore is not valid at character ${at}`)
    const [, key, value] = match
    pairs.set(unescaped(key!), value === undefined ? null : unescaped(value))
  }
  return pairs.size < 2 ? pairs : inDebeziumOrder(pairs)
}

/** Debezium's order is that of a Java map. Consumers may compare the text. */
function inDebeziumOrder(pairs: ReadonlyMap<string, string | null>): Map<string, string | null> {
  return new Map(inHashOrder([...pairs.keys()]).map((key) => [key, pairs.get(key)!]))
}

function jsonFromPairs(pairs: ReadonlyMap<string, string | null>): string {
  const members = [...pairs].map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
  return `{${members.join(',')}}`
}

function unescaped(text: string): string {
  return text.includes('\\') ? text.replace(/\\(.)/gs, '$1') : text
}
