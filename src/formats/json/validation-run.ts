import { VisitBudget } from './visit-budget.ts'

/**
 * Applies a schema to a value. `evaluated` collects the properties and items that `unevaluatedProperties` and
 * `unevaluatedItems` of an outer schema leave out.
 */
export type Check = (value: unknown, run: ValidationRun, evaluated: Evaluated | undefined) => boolean

/** Far more than honest schemas need; a schema that is visited this often takes a second. */
const VISITS = { min: 1_000_000, perValue: 1_000 }

/** Thrown by `visit`. */
export class TooManyVisits extends Error {
  override readonly name = 'TooManyVisits'
}

/** The state of one validation: where it is in the value, and the error to report. */
export class ValidationRun {
  readonly #budget: VisitBudget
  readonly #path: (string | number)[] = []
  #isQuiet = false
  #error: { readonly path: readonly (string | number)[]; readonly message: string } | undefined

  constructor(root: unknown) {
    this.#budget = new VisitBudget(root, VISITS)
  }

  /** The error at the deepest path, which is the most useful one: all branches of an `anyOf` report errors. */
  get error(): { readonly path: string; readonly message: string } {
    const { path, message } = this.#error ?? { path: [], message: 'is invalid' }
    return {
      path: path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
      message,
    }
  }

  /** Called for each visit of a schema. Throws `TooManyVisits`. */
  visit(): void {
    if (!this.#budget.spend()) throw new TooManyVisits('too many subschemas apply to the same value')
  }

  fail(message: string): false {
    const isDeepest = this.#error === undefined || this.#path.length > this.#error.path.length
    if (isDeepest && !this.#isQuiet) this.#error = { path: this.#path.slice(), message }
    return false
  }

  /** Applies a check to a member or an item. */
  inside(step: string | number, value: unknown, check: Check): boolean {
    this.#path.push(step)
    const isValid = check(value, this, undefined)
    this.#path.pop()
    return isValid
  }

  /** Evaluates a condition, whose errors are not errors of the value. */
  quietly(condition: () => boolean): boolean {
    const before = this.#isQuiet
    this.#isQuiet = true
    const isMet = condition()
    this.#isQuiet = before
    return isMet
  }

  /** Tries branches. If enough of them are valid, the errors of the others are not errors of the value. */
  attempt(branches: () => boolean): boolean {
    const before = this.#error
    const isValid = branches()
    if (isValid) this.#error = before
    return isValid
  }
}

/** The properties and items of one object or array that subschemas have evaluated. */
export class Evaluated {
  #hasAll = false
  readonly #keys = new Set<string | number>()

  add(key: string | number): void {
    this.#keys.add(key)
  }

  addAll(): void {
    this.#hasAll = true
  }

  addFrom(other: Evaluated): void {
    if (other.#hasAll) this.#hasAll = true
    for (const key of other.#keys) this.#keys.add(key)
  }

  has(key: string | number): boolean {
    return this.#hasAll || this.#keys.has(key)
  }
}
