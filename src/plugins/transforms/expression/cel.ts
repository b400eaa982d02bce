import { createRequire } from 'node:module'
import type * as Cel from '@marcbachmann/cel-js'
import type * as CelText from '@marcbachmann/cel-js/serialize'
import { BoundedMap } from '../../../clients/bounded-map.ts'
import { compileRe2 } from '../../../regex/linear-regex.ts'
import { spendFor, spendForAll } from './step-limit.ts'

/** A compiled expression. */
export type CompiledCel = {
  /** Whether the expression may use the variable with this name. */
  readonly uses: (name: string) => boolean
  /** Evaluates the expression. Throws the library's errors, and a `DataError` when the step budget is exhausted. */
  readonly evaluate: (variables: Readonly<Record<string, unknown>>) => unknown
}

const NESTING_MAX = 100
const NODES_MAX = 2_000
const PATTERNS_MAX = 100
/** The rewriting adds up to two levels of nesting around each part of an expression, and needs more nodes. */
const ROOM = { maxAstNodes: 3 * NODES_MAX, maxDepth: 3 * NESTING_MAX }

const load = createRequire(import.meta.url)
let environments: { readonly given: Cel.Environment; readonly roomy: Cel.Environment } | undefined

/** Compiles an expression. Throws an `Error` with the reason and the position. */
export function compileCel(text: string): CompiledCel {
  environments ??= createEnvironments()
  const { given, roomy } = environments
  const { valid, error } = given.check(text)
  if (!valid) throw error ?? new Error(`'${text}' is not an expression`)
  const names = new Set<string>()
  const steady = rewritten(given.parse(text).ast, names) as Cel.ASTNode
  const { serialize } = load('@marcbachmann/cel-js/serialize') as typeof CelText
  const evaluate = roomy.parse(serialize(steady))
  evaluate.check()
  return { uses: (name) => names.has(name), evaluate }
}

/**
 * Loads the library with the first expression. Most tasks use none, and each process would otherwise load it before its
 * first task.
 */
function createEnvironments() {
  const { Environment } = load('@marcbachmann/cel-js') as typeof Cel
  const patterns = new BoundedMap<string, ReturnType<typeof compileRe2>>(PATTERNS_MAX)
  const matches = (text: string, pattern: string) => {
    const compiled = patterns.get(pattern) ?? patterns.set(pattern, compileRe2(pattern))
    return compiled.matcher(text).find()
  }
  const given = new Environment({
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: { maxAstNodes: NODES_MAX, maxDepth: NESTING_MAX },
  })
    .registerVariable('value', 'dyn')
    .registerVariable('key', 'dyn')
    .registerVariable('headers', 'map')
    .registerVariable('topic', 'string')
    .registerVariable('partition', 'dyn')
    .registerVariable('offset', 'dyn')
    .registerVariable('timestamp', 'dyn')
    .registerFunction('string.matchesLinear(string): bool', matches)
    .registerFunction('counted(A): A', spendFor)
    .registerFunction('weighed(A): A', spendForAll)
  return { given, roomy: given.clone({ limits: ROOM }) }
}

const NAMESPACES: readonly unknown[] = ['cel', 'optional']

type Part = { readonly op: string; readonly args: unknown }

/**
 * Rewrites an expression so that its cost is bounded, which the library does not do. `matches` is replaced by a
 * function that uses RE2, as CEL specifies, because the library's implementation backtracks. Nested loops, growing
 * lists and strings, and comparisons of whole values are wrapped in functions that count steps. Adds the names of used
 * variables to `names`.
 */
function rewritten(part: unknown, names: Set<string>): unknown {
  if (Array.isArray(part)) return part.map((one) => rewritten(one, names))
  if (!isPart(part)) return part
  if (part.op === 'id') names.add(String(part.args))
  return bounded({ op: part.op, args: rewritten(part.args, names) })
}

function isPart(part: unknown): part is Part {
  return typeof part === 'object' && part !== null && 'op' in part
}

function bounded(part: Part): Part {
  const { op, args } = part
  if (op === 'rcall') return { op, args: boundedMethod(args as [string, Part, readonly Part[]]) }
  if (op === 'call') return { op, args: boundedFunction(args as [string, readonly Part[]]) }
  return isBinary(part) && !part.args.some((side) => side.op === 'value') ? boundedBinary(part) : part
}

type Binary = Part & { readonly args: readonly [Part, Part] }

function isBinary(part: Part): part is Binary {
  const { op } = part
  return op === '+' || op === '==' || op === '!=' || op === 'in'
}

/** Called only if neither operand is a constant; with a constant the cost is a single step. */
function boundedBinary({ op, args }: Binary): Part {
  const [left, right] = args
  return op === '+' ? within('counted', { op, args }) : { op, args: [left, within('weighed', right)] }
}

function boundedMethod([name, receiver, args]: readonly [string, Part, readonly Part[]]): readonly unknown[] {
  if (receiver.op === 'id' && NAMESPACES.includes(receiver.args)) return [name, receiver, args]
  const steady = within(name === 'join' ? 'weighed' : 'counted', receiver)
  return [name === 'matches' ? 'matchesLinear' : name, steady, args]
}

function boundedFunction([name, args]: readonly [string, readonly Part[]]): readonly unknown[] {
  return [name, name === 'has' ? args : args.map((arg) => within('counted', arg))]
}

function within(name: 'counted' | 'weighed', part: Part): Part {
  return { op: 'call', args: [name, [part]] }
}
