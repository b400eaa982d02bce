import { subjectSegment } from './path-segment.ts'
import { parseSubject } from './subject-names.ts'

/** Where a registry keeps a level or mode: a subject, a context, or everything. */
export type RegistryScope = {
  readonly kind: 'subject' | 'context' | 'global'
  /** In sentences, such as `context .team`. */
  readonly title: string
  /** `/config` or `/mode` followed by this is its path. */
  readonly suffix: string
}

export const GLOBAL_SCOPE: RegistryScope = { kind: 'global', title: 'all subjects', suffix: '' }

/** The scopes of a qualified subject, nearest first. `:.team:` is the context `.team` itself. */
export function scopesOf(qualified: string): readonly RegistryScope[] {
  const { context, name } = parseSubject(qualified)
  return [
    ...(name === '' ? [] : [{ kind: 'subject', title: `subject ${qualified}`, suffix: suffixOf(qualified) } as const]),
    ...(context === '.'
      ? []
      : [{ kind: 'context', title: `context ${context}`, suffix: suffixOf(`:${context}:`) } as const]),
    GLOBAL_SCOPE,
  ]
}

/** The first scope that has a value of its own. The global one always has: the default of the registry. */
export function definingScope(
  scopes: readonly RegistryScope[],
  own: readonly (string | undefined)[],
): RegistryScope | undefined {
  return scopes.find((_, at) => own[at] !== undefined)
}

export const LEVEL_MEANINGS: Readonly<Record<string, string>> = {
  BACKWARD: 'consumers with the new schema read data of the latest version',
  BACKWARD_TRANSITIVE: 'consumers with the new schema read data of all versions',
  FORWARD: 'consumers with the latest version read data of the new schema',
  FORWARD_TRANSITIVE: 'consumers with any version read data of the new schema',
  FULL: 'both directions, with the latest version',
  FULL_TRANSITIVE: 'both directions, with all versions',
  NONE: 'nothing is checked',
}

export const MODE_MEANINGS: Readonly<Record<string, string>> = {
  READWRITE: 'schemas are registered and deleted',
  READONLY: 'schemas are read only',
  READONLY_OVERRIDE: 'schemas are read only, whatever the mode of a subject is',
  IMPORT:
    'an import window: schemas are registered with given IDs and without a compatibility check; others are refused',
}

const suffixOf = (name: string) => `/${subjectSegment(name)}`
