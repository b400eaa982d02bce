import type { Change, ChangeType } from './change.ts'
import type { Model } from './model.ts'

/** One comparison under way. `compare` is the recursion of every kind of schema; no changes means compatible. */
export type Walk = {
  readonly compare: (original: Model | undefined, update: Model | undefined) => readonly Change[]
  /** The change, unless the policy allows it. */
  readonly report: (type: ChangeType, path?: string) => readonly Change[]
}

/** The same changes, seen from further out. */
export function under(path: string, changes: readonly Change[]): readonly Change[] {
  return changes.map(({ type, path: inner }) => ({ type, path: inner === '' ? path : `${path}/${inner}` }))
}
