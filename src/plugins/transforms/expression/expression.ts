import { type ConnectRecord, DataError, field } from '../../../sdk/index.ts'
import { compileCel } from './cel.ts'
import { fromCel, toCel } from './values.ts'

/** An expression of CEL, the Common Expression Language, that looks at a record. */
export type Expression = (record: ConnectRecord) => unknown

/** What `notes` of transforms with expressions say. */
export const EXPRESSION_NOTES = `
Expressions are [CEL](https://cel.dev), which ends in bounded time and reaches nothing but the record: \`value\`, \`key\`, \`topic\`,
\`partition\`, \`offset\` (of sinks), \`timestamp\` and \`headers\` (by name; of several the last). Whole numbers are \`int\`, others
\`double\`, decimals \`double\`, dates and times \`timestamp\`; the two kinds of numbers compare with each other, but to add or
multiply them takes \`double(value.count)\`. \`has(value.note)\` asks whether a member is there, \`value.?note.orValue("")\` gives
another one instead. A member that is not there is an error of the record, which \`errors.tolerance\` may tolerate.
`

/** A configuration key that holds one. */
export function expressionField(key: string, info: field.FieldInfo) {
  return field.parsed(field.text({ nonEmpty: true, ...info }), (text) => {
    try {
      return parseExpression(text)
    } catch (error) {
      throw new Error(`Invalid value ${text} for configuration ${key}: ${(error as Error).message}`)
    }
  })
}

/** Throws an `Error` that says what is wrong, and where. The expression throws a `DataError`. */
function parseExpression(text: string): Expression {
  const evaluate = compileCel(text)
  return (record) => {
    try {
      return fromCel(evaluate(variablesOf(record)))
    } catch (found) {
      throw new DataError(`${text}: ${firstLine(found)}`, { cause: found })
    }
  }
}

function variablesOf(record: ConnectRecord): Record<string, unknown> {
  const { key, keySchema, value, valueSchema, headers, topic, partition, timestampMs } = record
  return {
    value: toCel(value, valueSchema),
    key: toCel(key, keySchema),
    headers: new Map(headers.map((header) => [header.key, toCel(header.value, header.schema)])),
    topic,
    partition: partition === undefined ? null : BigInt(partition),
    offset: 'offset' in record ? BigInt(record.offset as number) : null,
    timestamp: timestampMs === null ? null : new Date(timestampMs),
  }
}

/** The library shows the place under it. */
function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
}
