import { type ComparisonContext, under } from './comparison-context.ts'
import type { Change, ChangeType } from './schema-change.ts'
import type { Model, Rest } from './schema-model.ts'

/** Whether any unlisted properties or items are allowed. */
export function isOpen({ additional, unevaluated }: Rest): boolean {
  return additional === undefined && (unevaluated === undefined || unevaluated.kind === 'any')
}

/** The schema for unlisted properties or items; undefined if everything or nothing is allowed. */
export function restSchema({ additional, unevaluated }: Rest): Model | undefined {
  if (additional !== undefined) return additional.kind === 'never' ? undefined : additional
  return unevaluated === undefined || unevaluated.kind === 'never' || unevaluated.kind === 'any'
    ? undefined
    : unevaluated
}

export function compareUnevaluated(
  walk: ComparisonContext,
  keyword: string,
  { unevaluated: before }: Rest,
  { unevaluated: after }: Rest,
  removed: ChangeType,
  narrowed: ChangeType,
): readonly Change[] {
  if (after === undefined || before?.kind === 'never' || (before && after.kind === 'any')) return []
  if (after.kind === 'never') return walk.report(removed, keyword)
  if (before === undefined || before.kind === 'any') return walk.report(narrowed, keyword)
  return under(keyword, walk.compare(before, after))
}
