import { undefinedIfNotFound } from '../../clients/http.ts'
import type { RegistryClient, SchemaVersionId } from '../../clients/registry.ts'

export type ListLatestVersions = (declared: readonly string[]) => Promise<ReadonlyMap<string, SchemaVersionId>>

/** One that is asked for by its name costs a registry as much as so many of a list. */
const IN_LIST = 200

/**
 * A look at the newest versions of declared subjects. A list has all that the registry has, texts included: one that has
 * far more than what is declared here is asked for that alone.
 */
export function createLatestVersionsLister(
  registry: Pick<RegistryClient, 'latest' | 'latestVersions'>,
): ListLatestVersions {
  let size = 0
  return async (declared) => {
    if (declared.length * IN_LIST < size) return latestOf(declared, registry)
    const all = await registry.latestVersions()
    size = all.size
    return all
  }
}

async function latestOf(
  subjects: readonly string[],
  registry: Pick<RegistryClient, 'latest'>,
): Promise<ReadonlyMap<string, SchemaVersionId>> {
  const found = await Promise.all(
    subjects.map(async (subject) => {
      const latest = await undefinedIfNotFound(registry.latest(subject))
      return latest === undefined ? [] : [[subject, { version: latest.version, id: latest.id }] as const]
    }),
  )
  return new Map(found.flat())
}
