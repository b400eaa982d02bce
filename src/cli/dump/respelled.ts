import { RequestError } from '../../clients/http.ts'
import type { RegistryClient } from '../../clients/registry.ts'
import { contentOf, contextOf, type Dump, isSameSchema, type Placed, placedVersions, placeKey } from './dump.ts'
import { eachOf, patient } from './pool.ts'

/**
 * What a registry holds, in a dump's spelling: registries write the same schema in different ways, and only they know
 * which ones mean the same.
 */
export async function inSpellingOf(dump: Dump, target: Dump, registry: RegistryClient): Promise<Dump> {
  const client = patient(registry)
  const ours = placedVersions(dump)
  const byPlace = new Map(ours.map((one) => [placeKey(one.subject, one.version.version), one]))
  const byId = new Map(ours.map((one) => [idKey(one), one]))
  const spelled = await eachOf(target.subjects, async ({ versions, ...subject }) => ({
    ...subject,
    versions: await Promise.all(
      versions.map(async (version) => {
        const there = { subject: subject.subject, version }
        const same = byPlace.get(placeKey(subject.subject, version.version)) ?? byId.get(idKey(there))
        if (!same || isSameSchema(same.version, version) || !(await meansTheSame(client, there, same))) return version
        const { id, deleted } = version
        return { version: version.version, id, ...contentOf(same.version), ...(deleted ? { deleted } : {}) }
      }),
    ),
  }))
  return { ...target, subjects: spelled }
}

async function meansTheSame(client: RegistryClient, there: Placed, ours: Placed): Promise<boolean> {
  try {
    const found = await client.lookup(there.subject, contentOf(ours.version), { deleted: true })
    return found.subject === there.subject && found.id === there.version.id
  } catch (error) {
    // Not found, or not even a schema by its rules.
    if (error instanceof RequestError && (error.status === 404 || error.status === 422)) return false
    throw error
  }
}

function idKey({ subject, version }: Placed): string {
  return `${version.id} ${contextOf(subject)}`
}
