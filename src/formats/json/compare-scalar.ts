import type { ComparisonContext } from './comparison-context.ts'
import type { Change, ChangeType } from './schema-change.ts'
import type { Bound, NumberModel, StringModel } from './schema-model.ts'

export function compareStrings(walk: ComparisonContext, original: StringModel, update: StringModel): readonly Change[] {
  return [
    ...compareMaximum(
      walk,
      'maxLength',
      original.maxLength,
      update.maxLength,
      'MAX_LENGTH_ADDED',
      'MAX_LENGTH_DECREASED',
    ),
    ...compareMinimum(
      walk,
      'minLength',
      original.minLength,
      update.minLength,
      'MIN_LENGTH_ADDED',
      'MIN_LENGTH_INCREASED',
    ),
    ...comparePatterns(walk, original.pattern, update.pattern),
  ]
}

function comparePatterns(
  walk: ComparisonContext,
  before: string | undefined,
  after: string | undefined,
): readonly Change[] {
  if (after === undefined || before === after) return []
  return walk.report(before === undefined ? 'PATTERN_ADDED' : 'PATTERN_CHANGED', 'pattern')
}

export function compareNumbers(walk: ComparisonContext, original: NumberModel, update: NumberModel): readonly Change[] {
  const narrowed = update.integer && !original.integer
  return [
    ...compareMaximum(walk, 'maximum', original.maximum, update.maximum, 'MAXIMUM_ADDED', 'MAXIMUM_DECREASED'),
    ...compareMinimum(walk, 'minimum', original.minimum, update.minimum, 'MINIMUM_ADDED', 'MINIMUM_INCREASED'),
    ...compareMaximum(
      walk,
      'exclusiveMaximum',
      original.exclusiveMaximum,
      update.exclusiveMaximum,
      'EXCLUSIVE_MAXIMUM_ADDED',
      'EXCLUSIVE_MAXIMUM_DECREASED',
    ),
    ...compareMinimum(
      walk,
      'exclusiveMinimum',
      original.exclusiveMinimum,
      update.exclusiveMinimum,
      'EXCLUSIVE_MINIMUM_ADDED',
      'EXCLUSIVE_MINIMUM_INCREASED',
    ),
    ...compareMultiples(walk, original.multipleOf, update.multipleOf),
    ...(narrowed ? walk.report('TYPE_NARROWED') : []),
  ]
}

/** An upper bound may increase or be removed. */
export function compareMaximum(
  walk: ComparisonContext,
  keyword: string,
  before: Bound,
  after: Bound,
  added: ChangeType,
  decreased: ChangeType,
): readonly Change[] {
  if (after === undefined) return []
  if (before === undefined) return walk.report(added, keyword)
  return after < before ? walk.report(decreased, keyword) : []
}

/** A lower bound may decrease or be removed. */
export function compareMinimum(
  walk: ComparisonContext,
  keyword: string,
  before: Bound,
  after: Bound,
  added: ChangeType,
  increased: ChangeType,
): readonly Change[] {
  if (after === undefined) return []
  if (before === undefined) return walk.report(added, keyword)
  return after > before ? walk.report(increased, keyword) : []
}

function compareMultiples(walk: ComparisonContext, before: Bound, after: Bound): readonly Change[] {
  if (after === undefined || before === after) return []
  if (before === undefined) return walk.report('MULTIPLE_OF_ADDED', 'multipleOf')
  if (isMultiple(after, before)) return walk.report('MULTIPLE_OF_EXPANDED', 'multipleOf')
  return isMultiple(before, after) ? [] : walk.report('MULTIPLE_OF_CHANGED', 'multipleOf')
}

/** Uses decimal arithmetic: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  if (of === 0) return false
  const digits = (number: number) => {
    const [mantissa = '', exponent = '0'] = String(number).split('e')
    return Math.max(0, (mantissa.split('.')[1]?.length ?? 0) - Number(exponent))
  }
  const scale = 10 ** Math.min(Math.max(digits(value), digits(of)), 300)
  return Math.round(value * scale) % Math.round(of * scale) === 0
}
