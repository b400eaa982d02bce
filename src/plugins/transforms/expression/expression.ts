import { type ASTNode, Environment } from '@marcbachmann/cel-js'
import { serialize } from '@marcbachmann/cel-js/serialize'
import { RE2JS } from 're2js'
import { BoundedMap } from '../../../clients/bounded-map.ts'
import { type ConnectRecord, DataError, field } from '../../../sdk/index.ts'
import { fromCel, toCel } from './values.ts'

/** An expression of CEL, the Common Expression Language, that looks at a record. */
export type Expression = (record: ConnectRecord) => unknown

const NESTING_MAX = 100
const PATTERNS_MAX = 100
const patterns = new BoundedMap<string, RE2JS>(PATTERNS_MAX)

const environment = new Environment({
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: { maxAstNodes: 2_000, maxDepth: NESTING_MAX },
})
  .registerVariable('value', 'dyn')
  .registerVariable('key', 'dyn')
  .registerVariable('headers', 'map')
  .registerVariable('topic', 'string')
  .registerVariable('partition', 'dyn')
  .registerVariable('offset', 'dyn')
  .registerVariable('timestamp', 'dyn')
  .registerFunction('string.matchesLinear(string): bool', (text: string, pattern: string) => matches(text, pattern))

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
  const { ast } = environment.parse(text)
  const evaluate = environment.parse(serialize(withLinearMatches(ast)))
  const { valid, error } = evaluate.check()
  if (!valid) throw error ?? new Error(`'${text}' is no expression`)
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

/** The library's own `matches` backtracks, for hours if it has to: RE2, which CEL asks for, looks at a character once. */
function withLinearMatches(node: ASTNode): ASTNode {
  return renamed(node) as ASTNode
}

function renamed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(renamed)
  if (typeof part !== 'object' || part === null) return part
  const { op, args } = part as { readonly op?: unknown; readonly args?: unknown }
  if (op === undefined) return part
  const inner = renamed(args)
  if (op !== 'rcall' || !Array.isArray(inner) || inner[0] !== 'matches') return { op, args: inner }
  return { op, args: ['matchesLinear', ...inner.slice(1)] }
}

function matches(text: string, pattern: string): boolean {
  const compiled = patterns.get(pattern) ?? patterns.set(pattern, RE2JS.compile(pattern))
  return compiled.matcher(text).find()
}

/** The library shows the place under it. */
function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
}
