import type { Change, ChangeType } from './schema-change.ts'
import type { Model } from './schema-model.ts'

/** The context of a comparison. `compare` compares subschemas recursively; an empty result means compatible. */
export type ComparisonContext = {
  readonly compare: (original: Model | undefined, update: Model | undefined) => readonly Change[]
  /** Returns the change, or nothing if the policy allows it. */
  readonly report: (type: ChangeType, path?: string) => readonly Change[]
}

/** Adds a prefix to the paths of changes. */
export function under(path: string, changes: readonly Change[]): readonly Change[] {
  return changes.map(({ type, path: inner }) => ({ type, path: inner === '' ? path : `${path}/${inner}` }))
}
