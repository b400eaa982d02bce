import { SchemaError } from '../schema-error.ts'
import type { SchemaLocation } from './schema-location.ts'
import type { PlainJson, PlainJsonObject } from './schema-model.ts'
import { UnresolvedReference } from './schema-resources.ts'
import { applicatorsOf, unevaluatedOf } from './validation-applicators.ts'
import { assertionsOf } from './validation-assertions.ts'
import { type Check, Evaluated, TooManyVisits, ValidationRun } from './validation-run.ts'

/** Returns the reason why a value is invalid, or undefined if it is valid. */
export type ValueCheck = (value: unknown) => string | undefined

/** Compiles schemas to functions that validate values. Each schema is compiled once, for all that refer to it. */
export class SchemaValidator {
  readonly #compiled = new Map<string, Map<PlainJson, CompiledSchema>>()

  /** Throws a `SchemaError` for a reference without a target and for a pattern that is invalid in ECMAScript. */
  check(location: SchemaLocation): ValueCheck {
    const check = this.#compile(location)
    const { draft } = location.dialect
    return (value) => {
      const run = new ValidationRun(value)
      try {
        if (check(value, run, undefined)) return undefined
      } catch (error) {
        if (error instanceof RangeError) return `the value is nested too deeply: ${error.message}`
        if (error instanceof TooManyVisits) return error.message
        throw error
      }
      return `#${run.error.path} ${run.error.message} (${draft})`
    }
  }

  #compile(location: SchemaLocation): Check {
    // Uses a list instead of recursion: the depth of a schema and the length of a chain of references are not limited here.
    const open: { readonly at: SchemaLocation; readonly compiled: CompiledSchema }[] = []
    const checkOf = (at: SchemaLocation): Check => {
      const known = this.#compiled.get(at.scope)?.get(at.value)
      if (known) return known.check
      const compiled = new CompiledSchema()
      const inScope = this.#compiled.get(at.scope) ?? new Map<PlainJson, CompiledSchema>()
      this.#compiled.set(at.scope, inScope.set(at.value, compiled))
      open.push({ at, compiled })
      return compiled.check
    }
    const check = checkOf(location)
    try {
      for (let next = open.pop(); next; next = open.pop()) next.compiled.apply = schemaCheck(next.at, checkOf)
    } catch (error) {
      const isExpected = error instanceof UnresolvedReference || error instanceof SyntaxError
      throw isExpected ? new SchemaError(error.message, { cause: error }) : error
    }
    return check
  }
}

/** The check of a schema, which others can refer to before it is compiled. */
class CompiledSchema {
  apply: Check = () => false
  readonly check: Check = (value, run, evaluated) => {
    run.visit()
    return this.apply(value, run, evaluated)
  }
}

export type CheckOf = (location: SchemaLocation) => Check

function schemaCheck(at: SchemaLocation, checkOf: CheckOf): Check {
  const { value: schema, dialect } = at
  if (schema === true) return () => true
  if (schema === false) return (_, run) => run.fail('boolean schema is false')
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema))
    throw new SchemaError(`expected a schema (an object or a boolean), found ${JSON.stringify(schema)}`)
  const references = at.references.map(({ find }) => checkOf(find()))
  if (references.length > 0 && !dialect.refHasSiblings) return all(references)
  const known = schema as PlainJsonObject
  const child = (value: PlainJson) => checkOf(at.child(value))
  const check = all([
    ...(dialect.hasValidation ? assertionsOf(known, dialect) : []),
    ...references,
    ...applicatorsOf(known, dialect, child),
  ])
  return dialect.isModern ? withUnevaluated(check, unevaluatedOf(known, child)) : check
}

function withUnevaluated(check: Check, unevaluated: readonly Check[]): Check {
  if (unevaluated.length === 0) return check
  const rest = all(unevaluated)
  return (value, run, evaluated) => {
    const own = new Evaluated()
    if (!check(value, run, own) || !rest(value, run, own)) return false
    evaluated?.addFrom(own)
    return true
  }
}

function all(checks: readonly Check[]): Check {
  const [first, second] = checks
  if (first === undefined) return () => true
  if (second === undefined) return first
  return (value, run, evaluated) => {
    for (const check of checks) if (!check(value, run, evaluated)) return false
    return true
  }
}
