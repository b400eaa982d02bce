import { SchemaError } from './format.ts'

/** How a schema names another one: `name` is what its text says (a type, a URI, an import), the rest where that is. */
export type SchemaReference = { readonly name: string; readonly subject: string; readonly version: number }

/** A referenced schema and its text. */
export type Dependency = SchemaReference & { readonly text: string }

const NESTING_MAX = 500

export type Referenced = { readonly text: string; readonly references: readonly SchemaReference[] }

/**
 * Everything that `references` reach, each name once, what others need first. `find` gives the text of one and what it
 * refers to itself; undefined is answered by `missing`, which throws. References in a circle are a `SchemaError`.
 */
export function dependenciesOf(
  references: readonly SchemaReference[],
  find: (reference: SchemaReference) => Referenced | undefined,
  missing: (reference: SchemaReference) => never,
): readonly Dependency[] {
  const found = new Map<string, Dependency>()
  /** From the outside to what is being visited. */
  const way: string[] = []
  const visit = (reference: SchemaReference): void => {
    const { name } = reference
    if (found.has(name)) return
    if (way.includes(name)) throw new SchemaError(`references go round in a circle: ${[...way, name].join(' → ')}`)
    if (way.length >= NESTING_MAX) throw new SchemaError(`references lead on through more than ${NESTING_MAX} schemas`)
    way.push(name)
    const referenced = find(reference) ?? missing(reference)
    referenced.references.forEach(visit)
    way.pop()
    found.set(name, { ...reference, text: referenced.text })
  }
  references.forEach(visit)
  return [...found.values()]
}

/** References in one spelling: by name, each once. */
export function normalizedReferences(references: readonly SchemaReference[]): readonly SchemaReference[] {
  const unique = new Map(references.map((reference) => [JSON.stringify(keyOf(reference)), reference]))
  return [...unique.values()].sort(compareReferences)
}

function keyOf({ name, subject, version }: SchemaReference): readonly [string, string, number] {
  return [name, subject, version]
}

function compareReferences(a: SchemaReference, b: SchemaReference): number {
  return compareText(a.name, b.name) || compareText(a.subject, b.subject) || a.version - b.version
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
