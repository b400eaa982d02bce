import { contextOf, qualifySubject } from './qualified-subject.ts'
import { SchemaError } from './schema-error.ts'

/**
 * A reference to another schema. `name` is the name in the schema text (a type, a URI or an import); `subject` and
 * `version` identify the registered schema.
 */
export type SchemaReference = { readonly name: string; readonly subject: string; readonly version: number }

/** A referenced schema and its text. */
export type Dependency = SchemaReference & { readonly text: string }

const NESTING_MAX = 500

export type Referenced = { readonly text: string; readonly references: readonly SchemaReference[] }

/**
 * Returns all directly and transitively referenced schemas, each name once; a schema comes after those that it
 * references. The subject of a reference without a context is in the context of the schema that has the reference; that of
 * `references` is `subject`. `find` returns the text and references of a schema by its qualified subject; if it returns
 * undefined, `missing` is called and throws. Throws a `SchemaError` for circular references and for more than 500 levels.
 */
export function dependenciesOf(
  subject: string,
  references: readonly SchemaReference[],
  find: (reference: SchemaReference) => Referenced | undefined,
  missing: (reference: SchemaReference) => never,
): readonly Dependency[] {
  const found = new Map<string, Dependency>()
  /** The path to the visited reference, outermost first. */
  const path: string[] = []
  const visit = (reference: SchemaReference, context: string): void => {
    const { name } = reference
    if (found.has(name)) return
    if (path.includes(name)) throw new SchemaError(`circular references: ${[...path, name].join(' → ')}`)
    if (path.length >= NESTING_MAX)
      throw new SchemaError(`references are nested through more than ${NESTING_MAX} schemas`)
    path.push(name)
    const target = { ...reference, subject: qualifySubject(reference.subject, context) }
    const referenced = find(target) ?? missing(reference)
    for (const nested of referenced.references) visit(nested, contextOf(target.subject))
    path.pop()
    found.set(name, { ...reference, text: referenced.text })
  }
  for (const reference of references) visit(reference, contextOf(subject))
  return [...found.values()]
}

/** Returns the references sorted by name, without duplicates. */
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
