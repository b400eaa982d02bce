import type {
  NewSchema,
  RegisteredReference,
  RegisteredSchema,
  RegistrySchemaType,
} from '../../clients/registry-client.ts'
import { unreachable } from '../../common/errors.ts'
import type { Format, Incompatibility, ParsedSchema, ParseOptions } from '../../formats/format.ts'
import { contextOf, qualifySubject } from '../../formats/qualified-subject.ts'
import { type Dependency, dependenciesOf, type Referenced } from '../../formats/references.ts'
import { SchemaError } from '../../formats/schema-error.ts'
import { type CompatibilityRules, comparedVersions, conflictsWith } from '../../formats/version-compatibility.ts'

/** A schema that is declared for a subject. */
export type SubjectSchema = NewSchema & { readonly subject: string }

/** Reads a referenced schema by its qualified subject. */
export type SchemaLookup = (subject: string, version: number) => Promise<RegisteredSchema>

/**
 * Why `schema` may not be registered after `earlier` (ascending) under these rules, one sentence each; empty when it
 * may. It is the registry's decision, made before anything is written. An earlier version that cannot be parsed is left
 * out: the registry decides when the schema is registered. Throws a `SchemaError` for a text that is not a schema.
 */
export async function findConflicts(
  schema: SubjectSchema,
  earlier: readonly RegisteredSchema[],
  rules: CompatibilityRules,
  lookup: SchemaLookup,
): Promise<readonly string[]> {
  const candidate = await parseSchema(schema, lookup)
  const versions = earlier.map((version) => ({ ...version, properties: version.metadata?.properties }))
  const compared = await Promise.all(
    comparedVersions(schema.metadata?.properties, versions, rules).map(async (version) => {
      const type = version.schemaType ?? 'AVRO'
      const parsed = type === candidate.type ? await parseSchema(version, lookup).catch(() => undefined) : undefined
      return { version: version.version, type, parsed: () => parsed }
    }),
  )
  return [...conflictsWith<ParsedSchema, (typeof compared)[number]>(candidate, compared, rules)].flatMap((conflict) => {
    const { version, type } = conflict.version
    if (conflict.kind === 'type') {
      return [`the schema type changes from ${type} in version ${version} to ${candidate.type}`]
    }
    return [...conflict.backward, ...conflict.forward].map((found) => `version ${version}: ${sentenceOf(found)}`)
  })
}

function sentenceOf({ type, path, description }: Incompatibility): string {
  return `${type} at ${path === '' ? '/' : path}: ${description}`
}

/** Throws a `SchemaError` for a text that is not a schema, and the error of `lookup`. */
export async function parseSchema(
  schema: SubjectSchema,
  lookup: SchemaLookup,
  options: ParseOptions = {},
): Promise<ParsedSchema> {
  const references = schema.references ?? []
  const format = await formatOf(schema.schemaType ?? 'AVRO')
  const dependencies = await fetchDependencies(schema.subject, references, lookup)
  return format.parse({ text: schema.schema, references, dependencies }, options)
}

/** Only the languages that are used are loaded. */
async function formatOf(type: RegistrySchemaType): Promise<Format> {
  switch (type) {
    case 'AVRO':
      return (await import('../../formats/avro/avro-format.ts')).avroFormat
    case 'JSON':
      return (await import('../../formats/json/json-schema-format.ts')).jsonFormat
    case 'PROTOBUF':
      return (await import('../../formats/protobuf/protobuf-format.ts')).protobufFormat
    default:
      return unreachable(type)
  }
}

async function fetchDependencies(
  subject: string,
  references: readonly RegisteredReference[],
  lookup: SchemaLookup,
): Promise<readonly Dependency[]> {
  const texts = new Map<string, Referenced>()
  const fetch = async (list: readonly RegisteredReference[], context: string): Promise<void> => {
    for (const { subject: named, version } of list) {
      const target = qualifySubject(named, context)
      const key = keyOf({ subject: target, version })
      if (texts.has(key)) continue
      const found = await lookup(target, version)
      texts.set(key, { text: found.schema, references: found.references ?? [] })
      await fetch(found.references ?? [], contextOf(target))
    }
  }
  await fetch(references, contextOf(subject))
  return dependenciesOf(
    subject,
    references,
    (reference) => texts.get(keyOf(reference)),
    (reference) => {
      throw new SchemaError(`the reference ${reference.name} cannot be resolved`)
    },
  )
}

function keyOf({ subject, version }: Pick<RegisteredReference, 'subject' | 'version'>): string {
  return `${version} ${subject}`
}
