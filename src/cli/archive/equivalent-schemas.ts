import { RequestError } from '../../clients/http-client.ts'
import type { RegistryClient } from '../../clients/registry-client.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'
import { contextOf } from '../../formats/qualified-subject.ts'
import { withRetries } from './concurrent-requests.ts'
import {
  isIdenticalSchema,
  type RegistryArchive,
  type SubjectVersion,
  schemaContentOf,
  versionKey,
  versionsOf,
} from './registry-archive.ts'

/**
 * The content of a registry with the archive's text for each schema that the registry considers equivalent. Registries
 * store the same schema with different formatting, and only the registry can decide whether two texts are equivalent.
 */
export async function withArchivedTexts(
  archive: RegistryArchive,
  target: RegistryArchive,
  registry: RegistryClient,
): Promise<RegistryArchive> {
  const client = withRetries(registry)
  const archived = versionsOf(archive)
  const byKey = new Map(archived.map((one) => [versionKey(one.subject, one.version.version), one]))
  const byId = new Map(archived.map((one) => [idKey(one), one]))
  const subjects = await mapConcurrently(target.subjects, async ({ versions, ...subject }) => ({
    ...subject,
    versions: await Promise.all(
      versions.map(async (version) => {
        const existing = { subject: subject.subject, version }
        const same = byKey.get(versionKey(subject.subject, version.version)) ?? byId.get(idKey(existing))
        if (!same || isIdenticalSchema(same.version, version) || !(await isEquivalent(client, existing, same)))
          return version
        const { id, deleted } = version
        return { version: version.version, id, ...schemaContentOf(same.version), ...(deleted ? { deleted } : {}) }
      }),
    ),
  }))
  return { ...target, subjects }
}

async function isEquivalent(
  client: RegistryClient,
  existing: SubjectVersion,
  archived: SubjectVersion,
): Promise<boolean> {
  try {
    const found = await client.lookup(existing.subject, schemaContentOf(archived.version), { deleted: true })
    return found.subject === existing.subject && found.id === existing.version.id
  } catch (error) {
    // Not registered, or not a valid schema for this registry.
    if (error instanceof RequestError && (error.status === 404 || error.status === 422)) return false
    throw error
  }
}

function idKey({ subject, version }: SubjectVersion): string {
  return `${version.id} ${contextOf(subject)}`
}
