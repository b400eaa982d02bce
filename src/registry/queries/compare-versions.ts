import type { DecisionContext } from '../commands/decision-types.ts'
import { invalidSchema } from '../model/registry-error.ts'
import type { SchemaVersion } from '../model/schema.ts'
import { configInScope } from './effective-config.ts'

/** Why each direction of compatibility is violated; empty if it is not. Every level requires one of them, both or none. */
type VersionComparison = { readonly backward: readonly string[]; readonly forward: readonly string[] }

/** A schema can have thousands of differences. */
const MESSAGES_MAX = 100

/** Compares two versions in both directions, whatever the level of the subject is. Rejects with `invalid_schema`. */
export async function compareVersions(
  { view, schemas, defaults }: DecisionContext,
  older: SchemaVersion,
  newer: SchemaVersion,
): Promise<VersionComparison> {
  const { compatibilityPolicy: policy } = configInScope(view, newer.subject, defaults)
  const parsed = await schemas.stored(view, newer).parse()
  const versions = [{ ...schemas.stored(view, older) }]
  for await (const { found } of schemas.operations.conflicts(parsed, versions, { level: 'FULL', policy })) {
    if (found.kind === 'unreadable')
      throw invalidSchema(`Invalid schema of version ${older.version}: it cannot be compared`)
    if (found.kind === 'type') {
      const both = ['The versions have different schema types.']
      return { backward: both, forward: both }
    }
    const texts = (of: readonly { readonly message: string }[]) =>
      of.slice(0, MESSAGES_MAX).map(({ message }) => message)
    return { backward: texts(found.backward), forward: texts(found.forward) }
  }
  return { backward: [], forward: [] }
}
