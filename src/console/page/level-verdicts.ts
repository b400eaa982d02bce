import { LEVEL_MEANINGS } from './registry-scopes.ts'
import { explainMessage } from './schema-messages.ts'

/** `GET /ui/api/subjects/{subject}/comparison`: why each direction is violated. */
export type VersionComparison = { readonly backward: readonly string[]; readonly forward: readonly string[] }

export type LevelVerdict = {
  readonly level: string
  readonly isPermitted: boolean
  readonly meaning: string
  readonly reasons: readonly string[]
}

/** What each level says of a version after another one. Between two versions, the transitive levels say the same as the others. */
export function levelVerdicts({ backward, forward }: VersionComparison): readonly LevelVerdict[] {
  const required = { BACKWARD: backward, FORWARD: forward, FULL: [...new Set([...backward, ...forward])], NONE: [] }
  return Object.entries(required).map(([level, reasons]) => {
    return {
      level,
      isPermitted: reasons.length === 0,
      meaning: LEVEL_MEANINGS[level] ?? '',
      reasons: reasons.map(explainMessage),
    }
  })
}
