import type { RegisteredReference, RegistryClient } from '../clients/registry-client.ts'
import { subjectBeside } from '../formats/qualified-subject.ts'
import type { Dependency } from '../formats/references.ts'

/**
 * Returns the texts of all direct and indirect references, without duplicates, dependencies first. `subject` is that of the
 * schema: references without a context are in its context.
 */
export async function resolveReferences(
  registry: RegistryClient,
  references: readonly RegisteredReference[] = [],
  subject?: string,
): Promise<readonly Dependency[]> {
  const found = new Map<string, Dependency>()
  const visited = new Set<string>()
  const visit = async (list: readonly RegisteredReference[], parent: string | undefined): Promise<void> => {
    for (const reference of list) {
      if (visited.has(reference.name)) continue
      visited.add(reference.name)
      const target = subjectBeside(parent, reference.subject)
      const { schema, references: transitive = [] } = await registry.version(target, reference.version, {
        deleted: true,
      })
      await visit(transitive, target)
      found.set(reference.name, { ...reference, text: schema })
    }
  }
  await visit(references, subject)
  return [...found.values()]
}
