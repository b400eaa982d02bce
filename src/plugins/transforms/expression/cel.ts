import { createRequire } from 'node:module'
import type * as Cel from '@marcbachmann/cel-js'
import type * as CelText from '@marcbachmann/cel-js/serialize'
import type * as Re2 from 're2js'
import { BoundedMap } from '../../../clients/bounded-map.ts'

/** An expression that was read: gives its value for values of its variables, and throws what the library throws. */
export type CompiledCel = (variables: Readonly<Record<string, unknown>>) => unknown

const NESTING_MAX = 100
const NODES_MAX = 2_000
const PATTERNS_MAX = 100

const load = createRequire(import.meta.url)
let environment: Cel.Environment | undefined

/** Throws an `Error` that says what is wrong, and where. */
export function compileCel(text: string): CompiledCel {
  environment ??= createEnvironment()
  const { serialize } = load('@marcbachmann/cel-js/serialize') as typeof CelText
  const { ast } = environment.parse(text)
  const evaluate = environment.parse(serialize(renamed(ast) as Cel.ASTNode))
  const { valid, error } = evaluate.check()
  if (!valid) throw error ?? new Error(`'${text}' is no expression`)
  return evaluate
}

/** Made with the first expression: most tasks have none, and each thread would load it before its first task. */
function createEnvironment(): Cel.Environment {
  const { Environment } = load('@marcbachmann/cel-js') as typeof Cel
  const { RE2JS } = load('re2js') as typeof Re2
  const patterns = new BoundedMap<string, Re2.RE2JS>(PATTERNS_MAX)
  const matches = (text: string, pattern: string) => {
    const compiled = patterns.get(pattern) ?? patterns.set(pattern, RE2JS.compile(pattern))
    return compiled.matcher(text).find()
  }
  return new Environment({
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
}

/** The library's own `matches` backtracks, for hours if it has to: RE2, which CEL asks for, looks at a character once. */
function renamed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(renamed)
  if (typeof part !== 'object' || part === null) return part
  const { op, args } = part as { readonly op?: unknown; readonly args?: unknown }
  if (op === undefined) return part
  const inner = renamed(args)
  if (op !== 'rcall' || !Array.isArray(inner) || inner[0] !== 'matches') return { op, args: inner }
  return { op, args: ['matchesLinear', ...inner.slice(1)] }
}
