import type { ComparisonContext } from './comparison-context.ts'
import type { Change } from './schema-change.ts'
import type { Model } from './schema-model.ts'
import { digestOf } from './value-digest.ts'

type Enum = Extract<Model, { kind: 'enum' }>
type Constant = Extract<Model, { kind: 'const' }>

/** Values may be added to an enum, but not removed or replaced. */
export function compareEnums(
  walk: ComparisonContext,
  { values: before }: Enum,
  { values: after }: Enum,
): readonly Change[] {
  const [was, is] = [before, after].map((values) => new Set(values.map(digestOf))) as [Set<string>, Set<string>]
  if (was.isSubsetOf(is)) return []
  return walk.report(is.isSubsetOf(was) ? 'ENUM_ARRAY_NARROWED' : 'ENUM_ARRAY_CHANGED', 'enum')
}

export function compareConstants(
  walk: ComparisonContext,
  { value: before }: Constant,
  { value: after }: Constant,
): readonly Change[] {
  return digestOf(before) === digestOf(after) ? [] : walk.report('ENUM_ARRAY_CHANGED', 'const')
}
