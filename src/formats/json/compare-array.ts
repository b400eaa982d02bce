import { compareMaximum, compareMinimum } from './compare-scalar.ts'
import { compareUnevaluated, isOpen, restSchema } from './compare-unlisted.ts'
import { type ComparisonContext, under } from './comparison-context.ts'
import type { Change } from './schema-change.ts'
import type { ArrayModel, Model } from './schema-model.ts'

export function compareArrays(walk: ComparisonContext, original: ArrayModel, update: ArrayModel): readonly Change[] {
  return [
    ...under('items', walk.compare(original.items, update.items)),
    ...compareTuples(walk, original, update),
    ...under('additionalItems', compareAdditional(walk, original, update)),
    ...compareUnevaluated(
      walk,
      'unevaluatedItems',
      original,
      update,
      'UNEVALUATED_ITEMS_REMOVED',
      'UNEVALUATED_ITEMS_NARROWED',
    ),
    ...compareMaximum(walk, 'maxItems', original.maxItems, update.maxItems, 'MAX_ITEMS_ADDED', 'MAX_ITEMS_DECREASED'),
    ...compareMinimum(walk, 'minItems', original.minItems, update.minItems, 'MIN_ITEMS_ADDED', 'MIN_ITEMS_INCREASED'),
    ...(update.uniqueItems && !original.uniqueItems ? walk.report('UNIQUE_ITEMS_ADDED', 'uniqueItems') : []),
    ...compareMaximum(
      walk,
      'maxContains',
      original.maxContains,
      update.maxContains,
      'MAX_CONTAINS_ADDED',
      'MAX_CONTAINS_DECREASED',
    ),
    ...compareMinimum(
      walk,
      'minContains',
      original.minContains,
      update.minContains,
      'MIN_CONTAINS_ADDED',
      'MIN_CONTAINS_INCREASED',
    ),
  ]
}

/** Compares the items of tuples by index, in the same way as properties by name. */
function compareTuples(walk: ComparisonContext, original: ArrayModel, update: ArrayModel): readonly Change[] {
  const length = Math.max(original.tuple.length, update.tuple.length)
  return Array.from({ length }, (_, at) => under(`items/${at}`, compareItem(walk, at, original, update))).flat()
}

function compareItem(walk: ComparisonContext, at: number, original: ArrayModel, update: ArrayModel): readonly Change[] {
  const before = original.tuple[at]
  const after = update.tuple[at]
  if (before && after) return walk.compare(before, after)
  if (before) return compareRemoved(walk, before, update)
  return after ? compareAdded(walk, after, original) : []
}

function compareRemoved(walk: ComparisonContext, before: Model, update: ArrayModel): readonly Change[] {
  if (isOpen(update)) return []
  const cover = restSchema(update)
  if (!cover) return before.kind === 'never' ? [] : walk.report('ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL')
  const changes = walk.compare(before, cover)
  return changes.length === 0
    ? []
    : [...changes, ...walk.report('ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL')]
}

function compareAdded(walk: ComparisonContext, after: Model, original: ArrayModel): readonly Change[] {
  if (isOpen(original)) return after.kind === 'any' ? [] : walk.report('ITEM_ADDED_TO_OPEN_CONTENT_MODEL')
  const cover = restSchema(original)
  const changes = cover ? walk.compare(cover, after) : []
  return changes.length === 0
    ? []
    : [...changes, ...walk.report('ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL')]
}

function compareAdditional(walk: ComparisonContext, original: ArrayModel, update: ArrayModel): readonly Change[] {
  const [before, after] = [original.additional, update.additional]
  if ((before?.kind === 'never') !== (after?.kind === 'never'))
    return after?.kind === 'never' ? walk.report('ADDITIONAL_ITEMS_REMOVED') : []
  if (before?.kind === 'never') return []
  return before === undefined && after
    ? walk.report('ADDITIONAL_ITEMS_NARROWED')
    : before && after
      ? walk.compare(before, after)
      : []
}
