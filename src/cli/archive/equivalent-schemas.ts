import { RequestError } from '../../clients/http.ts'
import type { RegistryClient } from '../../clients/registry.ts'
import {
  contextNameOf,
  isIdenticalSchema,
  type RegistryArchive,
  type SubjectVersion,
  schemaOf,
  versionKey,
  versionsOf,
} from './archive.ts'
import { mapConcurrently, withRetries } from './concurrent-requests.ts'

/**
 * What a registry holds, in a dump's spelling: registries write the same schema in different ways, and only they know
 * which ones mean the same.
 */
export async function withArchivedTexts(
  dump: RegistryArchive,
  target: RegistryArchive,
  registry: RegistryClient,
): Promise<RegistryArchive> {
  const client = withRetries(registry)
  const ours = versionsOf(dump)
  const byPlace = new Map(ours.map((one) => [versionKey(one.subject, one.version.version), one]))
  const byId = new Map(ours.map((one) => [idKey(one), one]))
  const spelled = await mapConcurrently(target.subjects, async ({ versions, ...subject }) => ({
    ...subject,
    versions: await Promise.all(
      versions.map(async (version) => {
        const there = { subject: subject.subject, version }
        const same = byPlace.get(versionKey(subject.subject, version.version)) ?? byId.get(idKey(there))
        if (!same || isIdenticalSchema(same.version, version) || !(await isEquivalent(client, there, same)))
          return version
        const { id, deleted } = version
        return { version: version.version, id, ...schemaOf(same.version), ...(deleted ? { deleted } : {}) }
      }),
    ),
  }))
  return { ...target, subjects: spelled }
}

async function isEquivalent(client: RegistryClient, there: SubjectVersion, ours: SubjectVersion): Promise<boolean> {
  try {
    const found = await client.lookup(there.subject, schemaOf(ours.version), { deleted: true })
    return found.subject === there.subject && found.id === there.version.id
  } catch (error) {
    // Not found, or not even a schema by its rules.
    if (error instanceof RequestError && (error.status === 404 || error.status === 422)) return false
    throw error
  }
}

function idKey({ subject, version }: SubjectVersion): string {
  return `${version.id} ${contextNameOf(subject)}`
}
