import { type ConnectRecord, DataError, field } from '../../../sdk/index.ts'
import { compileCel } from './cel.ts'
import { fromCel, toCel } from './cel-values.ts'
import { STEPS_MAX, withinSteps } from './step-limit.ts'

/** A compiled expression in CEL, the Common Expression Language, that is evaluated on a record. */
export type Expression = (record: ConnectRecord) => unknown

/** Notes on the reference page of all transforms that use expressions. */
export const EXPRESSION_NOTES = `
Expressions are written in [CEL](https://cel.dev). Their evaluation always terminates and can access only the record: \`value\`, \`key\`, \`topic\`,
\`partition\`, \`offset\` (in sinks), \`timestamp\` and \`headers\` (by name; if a name occurs several times, its last header). Integers are \`int\`,
other numbers and decimals are \`double\`, dates and times are \`timestamp\`. Values of \`int\` and \`double\` can be compared; arithmetic needs a
conversion: \`double(value.count)\`. \`has(value.note)\` tests whether a member exists, \`value.?note.orValue("")\` gives a default. A missing member
is an error of the record, which is handled according to \`errors.tolerance\`; so is an evaluation of more than
${STEPS_MAX.toLocaleString('en')} steps. Each item that is iterated over, inspected or created is one step, and so are 64 characters; the limit is
enough to compare each pair of 700 items.
`

/** Configuration key for an expression. */
export function expressionField(key: string, info: field.FieldInfo) {
  return field.parsed(field.text({ nonEmpty: true, ...info }), (text) => {
    try {
      return parseExpression(text)
    } catch (error) {
      throw new Error(`Invalid value ${text} for configuration ${key}: ${(error as Error).message}`)
    }
  })
}

/** Compiles an expression. Throws an `Error` with the reason and the position. The result throws a `DataError`. */
export function parseExpression(text: string): Expression {
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

/** Returns the message without the excerpt that the library appends on the next lines. */
function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
}
