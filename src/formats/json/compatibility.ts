import { SchemaError } from '../schema-error.ts'
import { compareArrays } from './compare-array.ts'
import { compareCombined, isBranchOf } from './compare-combined.ts'
import { compareConstants, compareEnums } from './compare-enum.ts'
import { compareObjects } from './compare-object.ts'
import { compareNumbers, compareStrings } from './compare-scalar.ts'
import type { ComparisonContext } from './comparison-context.ts'
import { type Change, isAllowed, type Policy } from './schema-change.ts'
import type { Model } from './schema-model.ts'

/**
 * Returns the incompatible changes from `original` to `update`, with paths from the root. Each pair of subschemas is
 * compared once per pass. A recursive occurrence of a pair is assumed to be compatible; the passes are repeated until
 * all assumptions hold. Throws a `SchemaError` if references are nested too deeply.
 */
export function jsonSchemaChanges(original: Model, update: Model, policy: Policy = 'STRICT'): readonly Change[] {
  const numbers = new Map<Model, number>()
  let broken: Pairs = new Map()
  for (;;) {
    const pass = comparePass(original, update, policy, numbers, broken)
    const known = new Map([...broken, ...pass.broken])
    if (!pass.assumed || known.size === broken.size) return pass.changes
    broken = known
  }
}

/** The maximum nesting of comparisons. The stack has space for 990 of the comparisons that need most of it. */
const DEPTH_MAX = 800
/** Limits the changes per pair, because shared definitions can multiply them. */
const CHANGES_MAX = 1_000

/** The changes by pair. The key consists of the numbers assigned to the two models. */
type Pairs = ReadonlyMap<string, readonly Change[]>

function comparePass(original: Model, update: Model, policy: Policy, numbers: Map<Model, number>, broken: Pairs) {
  const done = new Map<string, readonly Change[]>()
  const inProgress = new Set<string>()
  let assumed = false
  const numberOf = (model: Model) => {
    if (!numbers.has(model)) numbers.set(model, numbers.size)
    return numbers.get(model)
  }
  const keyOf = (pair: readonly Model[]) => pair.map(numberOf).join(':')

  const walk: ComparisonContext = {
    report: (type, path = '') => (isAllowed(type, policy) ? [] : [{ type, path }]),
    compare: (before, after) => {
      if (before === undefined) return after === undefined ? [] : walk.report('SCHEMA_ADDED')
      if (after === undefined) return []
      const pair = [resolved(before), resolved(after)] as const
      const key = keyOf(pair)
      const known = done.get(key)
      if (known) return known
      if (inProgress.has(key)) {
        const seeded = broken.get(key)
        assumed ||= seeded === undefined
        return seeded ?? []
      }
      if (inProgress.size >= DEPTH_MAX)
        throw new SchemaError('the schemas cannot be compared: their references are nested too deeply')
      inProgress.add(key)
      const changes = comparePair(walk, ...pair).slice(0, CHANGES_MAX)
      inProgress.delete(key)
      done.set(key, changes)
      return changes
    },
  }
  const changes = walk.compare(original, update)
  return { changes, assumed, broken: new Map([...done].filter(([, found]) => found.length > 0)) }
}

function resolved(model: Model): Model {
  let target = model
  while (target.kind === 'reference') target = target.target()
  return target
}

/** The comparison of two schemas of the same kind. Kinds without keywords of their own need no entry. */
type Comparisons = {
  readonly [Kind in Model['kind']]?: (
    walk: ComparisonContext,
    original: Extract<Model, { kind: Kind }>,
    update: Extract<Model, { kind: Kind }>,
  ) => readonly Change[]
}

const SAME_KIND: Comparisons = {
  string: compareStrings,
  number: compareNumbers,
  object: compareObjects,
  array: compareArrays,
  combined: compareCombined,
  enum: compareEnums,
  const: compareConstants,
  // Compatible if the new inner schema accepts only values that the old one accepted.
  not: (walk, { schema: before }, { schema: after }) =>
    walk.compare(after, before).length === 0 ? [] : walk.report('NOT_TYPE_EXTENDED', 'not'),
}

function comparePair(walk: ComparisonContext, original: Model, update: Model): readonly Change[] {
  if (isBranchOf(walk, original, update)) return []
  if (original.kind !== update.kind) return compareKinds(walk, original, update)
  const compareSame = SAME_KIND[original.kind] as
    | ((walk: ComparisonContext, original: Model, update: Model) => readonly Change[])
    | undefined
  return compareSame?.(walk, original, update) ?? []
}

function compareKinds(walk: ComparisonContext, original: Model, update: Model): readonly Change[] {
  const alike = original.kind === 'never' || update.kind === 'any'
  return alike || (original.isConnectBytes && update.isConnectBytes) ? [] : walk.report('TYPE_CHANGED')
}
