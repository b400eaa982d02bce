import { decimalFromText, decimalToText } from '../../../../../sdk/index.ts'
import type { ValueType } from '../../../cdc/values/value-type.ts'

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
export function defaultValue(column: DefaultedColumn, type: ValueType, expression: string): unknown {
  const text = defaultText(column, expression)
  if (text === undefined || type.schema.type === 'struct') return undefined
  try {
    return type.decode(text)
  } catch {
    // A default does not fail a table whose rows can be read.
    return undefined
  }
}

/** The type of a column with a default. */
export type DefaultedColumn = { readonly name: string; readonly isEnum: boolean; readonly modifier: number }

function defaultText({ name: typeName, isEnum, modifier }: DefaultedColumn, expression: string): string | undefined {
  const zero = COMPUTED[typeName]
  if (zero === undefined && !isEnum) return undefined
  const [, quoted, word] = LITERAL.exec(expression) ?? []
  const literal = quoted?.replaceAll("''", "'") ?? (word === undefined || KEYWORD.test(word) ? undefined : word)
  if (literal !== undefined)
    return literal === word ? wordText(typeName, word, modifier) : atScale(typeName, literal, modifier)
  const isComputed = CALL.test(expression) || KEYWORD.test(expression) || ANY_EXPRESSION.has(typeName)
  return isComputed && zero !== undefined ? atScale(typeName, zero, modifier) : undefined
}

function wordText(typeName: string, word: string, modifier: number): string | undefined {
  if (word === 'NULL') return undefined
  return typeName === 'bool' ? word.slice(0, 1) : atScale(typeName, word, modifier)
}

/** The server writes values of `numeric(10, 2)` with two fractional digits, but not defaults. */
function atScale(typeName: string, text: string, modifier: number): string {
  if (typeName !== 'numeric' || modifier < 0 || !/^-?\d+(?:\.\d+)?$/.test(text)) return text
  return decimalToText(decimalFromText(text, (modifier - 4) & 0xffff))
}
