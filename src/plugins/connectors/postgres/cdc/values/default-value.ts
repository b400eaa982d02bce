import type { ValueType } from './value-type.ts'

/** A literal: `7`, `-1.5`, `true`, `'it''s'::text`, `'8'`. */
const LITERAL = /^\(?(?:'((?:[^']|'')*)'|(-?[\w.]+))\)?(?:::[^()']+(?:\([\d,]+\))?(?:\[\])*)?$/
/** A call, with or without a cast of its result: `gen_random_uuid()`, `(now())::date`. */
const CALL = /^\(?[\w."]+\(.*\)\)?(?:::[\w "]+)?$/s
const KEYWORD = /^(?:CURRENT_(?:DATE|TIME|TIMESTAMP)|LOCALTIME|LOCALTIMESTAMP)(?:\(\d\))?$/

/** Types whose defaults are part of the schema, with the text of the default if only the server can compute it. */
const COMPUTED: Readonly<Record<string, string | undefined>> = {
  ...Object.fromEntries(['int2', 'int4', 'int8', 'float4', 'float8', 'numeric'].map((name) => [name, '0'])),
  ...Object.fromEntries(['text', 'varchar', 'bpchar', 'xml', 'bit', 'varbit'].map((name) => [name, ''])),
  ...{ bool: 'f', json: '{}', jsonb: '{}', interval: '00:00:00', uuid: '00000000-0000-0000-0000-000000000000' },
  ...{ date: '1970-01-01', time: '00:00:00', timestamp: '1970-01-01 00:00:00', timestamptz: '1970-01-01 00:00:00+00' },
}
/** Types that have the same default for each expression that is not a literal. */
const ANY_EXPRESSION = new Set(['bool', 'date', 'time', 'timestamp', 'timestamptz', 'uuid'])

/**
 * Returns the default of a column's schema, or undefined. A default that the server computes for each row is zero or empty, as
 * Debezium has it, because consumers need some default to accept rows without the column.
 */
export function defaultValue(typeName: string, isEnum: boolean, type: ValueType, expression: string): unknown {
  const text = defaultText(typeName, isEnum, expression)
  if (text === undefined || type.schema.type === 'struct') return undefined
  try {
    return type.decode(text)
  } catch {
    // A default does not fail a table whose rows can be read.
    return undefined
  }
}

function defaultText(typeName: string, isEnum: boolean, expression: string): string | undefined {
  const zero = COMPUTED[typeName]
  if (zero === undefined && !isEnum) return undefined
  const [, quoted, word] = LITERAL.exec(expression) ?? []
  if (quoted !== undefined) return quoted.replaceAll("''", "'")
  if (word !== undefined && !KEYWORD.test(word)) return wordText(typeName, word)
  const isComputed = CALL.test(expression) || KEYWORD.test(expression) || ANY_EXPRESSION.has(typeName)
  return isComputed ? zero : undefined
}

function wordText(typeName: string, word: string): string | undefined {
  if (word === 'NULL') return undefined
  return typeName === 'bool' ? word.slice(0, 1) : word
}
