import { createRequire } from 'node:module'
import type * as Cel from '@marcbachmann/cel-js'
import type * as CelText from '@marcbachmann/cel-js/serialize'
import { BoundedMap } from '../../../clients/bounded-map.ts'
import { compileRe2 } from '../../../regex/linear.ts'
import { spendFor, spendForAll } from './steps.ts'

/** An expression that was read. */
export type CompiledCel = {
  /** Whether it may look at a variable of this name. */
  readonly uses: (name: string) => boolean
  /** Gives its value for values of its variables, and throws what the library throws. Spends steps. */
  readonly evaluate: (variables: Readonly<Record<string, unknown>>) => unknown
}

const NESTING_MAX = 100
const NODES_MAX = 2_000
const PATTERNS_MAX = 100
/** What is put around a part of an expression nests two deeper. */
const ROOM = { maxAstNodes: 3 * NODES_MAX, maxDepth: 3 * NESTING_MAX }

const load = createRequire(import.meta.url)
let environments: { readonly given: Cel.Environment; readonly roomy: Cel.Environment } | undefined

/** Throws an `Error` that says what is wrong, and where. */
export function compileCel(text: string): CompiledCel {
  environments ??= createEnvironments()
  const { given, roomy } = environments
  const { valid, error } = given.check(text)
  if (!valid) throw error ?? new Error(`'${text}' is no expression`)
  const names = new Set<string>()
  const steady = rewritten(given.parse(text).ast, names) as Cel.ASTNode
  const { serialize } = load('@marcbachmann/cel-js/serialize') as typeof CelText
  const evaluate = roomy.parse(serialize(steady))
  evaluate.check()
  return { uses: (name) => names.has(name), evaluate }
}

/** Made with the first expression: most tasks have none, and each thread would load it before its first task. */
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
 * The library bounds none of these, so functions of ours stand before them: `matches` backtracks, for hours if it has to,
 * where RE2, which CEL asks for, looks at a character once; and loops within loops, lists and texts that double, and looks
 * at the whole of those take what they take. Adds the names that are looked at to `names`.
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

/** Neither side is a constant: with one of those it is one look. */
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
