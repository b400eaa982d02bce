import type { RegisteredReference, RegistryClient } from '../clients/registry-client.ts'
import type { Dependency } from '../formats/references.ts'

/** Returns the texts of all direct and indirect references, without duplicates, dependencies first. */
export async function resolveReferences(
  registry: RegistryClient,
  references: readonly RegisteredReference[] = [],
  found: Map<string, Dependency> = new Map(),
  visited: Set<string> = new Set(),
): Promise<readonly Dependency[]> {
  for (const reference of references) {
    if (visited.has(reference.name)) continue
    visited.add(reference.name)
    const { schema, references: transitive } = await registry.version(reference.subject, reference.version, {
      deleted: true,
    })
    await resolveReferences(registry, transitive, found, visited)
    found.set(reference.name, { ...reference, text: schema })
  }
  return [...found.values()]
}
