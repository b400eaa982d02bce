import type { ComparisonContext } from './comparison-context.ts'
import { maximumMatching } from './maximum-matching.ts'
import type { Change } from './schema-change.ts'
import type { CombinedModel, Model } from './schema-model.ts'

/** Compares a combined schema with one that is not. True if one compatible branch is sufficient and there is one. */
export function isBranchOf(walk: ComparisonContext, original: Model, update: Model): boolean {
  if (original.kind !== 'combined' && update.kind === 'combined') {
    if (update.schemas.length > 1 && update.criterion === 'allOf') return false
    return update.schemas.some((branch) => walk.compare(original, branch).length === 0)
  }
  if (original.kind === 'combined' && update.kind !== 'combined') {
    if (original.schemas.length > 1 && original.criterion !== 'allOf') return false
    return original.schemas.some((branch) => walk.compare(branch, update).length === 0)
  }
  return false
}

export function compareCombined(
  walk: ComparisonContext,
  original: CombinedModel,
  update: CombinedModel,
): readonly Change[] {
  if (!mayBecome(original, update)) return walk.report('COMBINED_TYPE_CHANGED')
  const before = distinct(original.schemas)
  const after = distinct(update.schemas)
  const places = new Map(after.map(({ text }, at) => [text, at]))
  const matched = maximumMatching({
    left: before.length,
    right: after.length,
    // Most branches are unchanged.
    guess: (old) => places.get(before[old]?.text ?? ''),
    fits: (old, now) => walk.compare(before[old], after[now]).length === 0,
  })
  const covered = matched >= Math.min(before.length, after.length)
  return [
    ...compareSizes(walk, original, update, before.length, after.length),
    ...(covered ? [] : walk.report('COMBINED_TYPE_SUBSCHEMAS_CHANGED')),
  ]
}

function mayBecome(original: CombinedModel, update: CombinedModel): boolean {
  if (original.criterion === update.criterion || update.criterion === 'anyOf') return true
  const [single, singleNow] = [original.schemas.length === 1, update.schemas.length === 1]
  return (
    (single && singleNow) || (single && update.criterion === 'oneOf') || (singleNow && original.criterion === 'allOf')
  )
}

function compareSizes(
  walk: ComparisonContext,
  original: CombinedModel,
  update: CombinedModel,
  before: number,
  after: number,
): readonly Change[] {
  if (before < after && update.criterion === 'allOf') return walk.report('PRODUCT_TYPE_EXTENDED')
  if (before > after && original.criterion !== 'allOf') return walk.report('SUM_TYPE_NARROWED')
  return []
}

function distinct(schemas: readonly Model[]): readonly Model[] {
  return [...new Map(schemas.map((schema) => [schema.text, schema])).values()]
}
