import { type ConnectRecord, DataError, field } from '../../../sdk/index.ts'
import { compileCel } from './cel.ts'
import { STEPS_MAX, withinSteps } from './steps.ts'
import { fromCel, toCel } from './values.ts'

/** An expression of CEL, the Common Expression Language, that looks at a record. */
export type Expression = (record: ConnectRecord) => unknown

/** What `notes` of transforms with expressions say. */
export const EXPRESSION_NOTES = `
Expressions are [CEL](https://cel.dev), which ends in bounded time and reaches nothing but the record: \`value\`, \`key\`, \`topic\`,
\`partition\`, \`offset\` (of sinks), \`timestamp\` and \`headers\` (by name; of several the last). Whole numbers are \`int\`, others
\`double\`, decimals \`double\`, dates and times \`timestamp\`; the two kinds of numbers compare with each other, but to add or
multiply them takes \`double(value.count)\`. \`has(value.note)\` asks whether a member is there, \`value.?note.orValue("")\` gives
another one instead. A member that is not there is an error of the record, which \`errors.tolerance\` may tolerate, and so are
more than ${STEPS_MAX.toLocaleString('en')} steps: an item that is looped over, looked at or made, and 64 characters, are a step each, enough to look at
each pair of 700 items.
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
  const { uses, evaluate } = compileCel(text)
  const variables = Object.entries(VARIABLES).filter(([name]) => uses(name))
  return (record) => {
    try {
      const known = Object.fromEntries(variables.map(([name, of]) => [name, of(record)]))
      return withinSteps(() => fromCel(evaluate(known)))
    } catch (found) {
      throw new DataError(`${text}: ${firstLine(found)}`, { cause: found })
    }
  }
}

const VARIABLES: Readonly<Record<string, (record: ConnectRecord) => unknown>> = {
  value: ({ value, valueSchema }) => toCel(value, valueSchema),
  key: ({ key, keySchema }) => toCel(key, keySchema),
  headers: ({ headers }) => new Map(headers.map((header) => [header.key, toCel(header.value, header.schema)])),
  topic: ({ topic }) => topic,
  partition: ({ partition }) => (partition === undefined ? null : BigInt(partition)),
  offset: (record) => ('offset' in record ? BigInt(record.offset as number) : null),
  timestamp: ({ timestampMs }) => (timestampMs === null ? null : new Date(timestampMs)),
}

/** The library shows the place under it. */
function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
}
