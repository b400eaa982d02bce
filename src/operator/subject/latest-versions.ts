import { undefinedIfNotFound } from '../../clients/http-client.ts'
import type { RegistryClient, SchemaVersionId } from '../../clients/registry-client.ts'

export type ListLatestVersions = (declared: readonly string[]) => Promise<ReadonlyMap<string, SchemaVersionId>>

/** Reading one subject costs a registry as much as listing this many. */
const IN_LIST = 200

/**
 * Lists the latest versions of the declared subjects. A list contains every schema text of the registry, so a registry
 * with many more subjects than are declared is asked for the declared ones only.
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
