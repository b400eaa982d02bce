import type { NewSchema, RegisteredReference, RegisteredSchema } from '../../clients/registry-client.ts'
import type { CompatibilityWorker } from '../../compatibility-worker/compatibility-worker.ts'
import { type EarlierVersion, SchemaOperations } from '../../compatibility-worker/schema-operations.ts'
import { type Conflict, schemaErrorMessage, type UnparsedSchema } from '../../compatibility-worker/worker-job.ts'
import type { FormatType, Incompatibility, ParsedSchema, ParseOptions } from '../../formats/format.ts'
import { loadFormat } from '../../formats/load-format.ts'
import { contextOf, qualifySubject } from '../../formats/qualified-subject.ts'
import { type Dependency, dependenciesOf, type Referenced } from '../../formats/references.ts'
import { SchemaError } from '../../formats/schema-error.ts'
import { type CompatibilityRules, comparedVersions } from '../../formats/version-compatibility.ts'

/** A schema that is declared for a subject. */
export type SubjectSchema = NewSchema & { readonly subject: string }

/** Reads a referenced schema by its qualified subject. */
export type SchemaLookup = (subject: string, version: number) => Promise<RegisteredSchema>

/** What a comparison uses besides the schemas. */
export type ComparisonDependencies = {
  readonly lookup: SchemaLookup
  /** Parses and compares what would block other resources. */
  readonly compatibilityWorker: Pick<CompatibilityWorker, 'run'>
}

/**
 * Why `schema` may not be registered after `earlier` (ascending) under these rules, one sentence each; empty when it
 * may. It is the registry's decision, made before anything is written. An earlier version that cannot be parsed is left
 * out: the registry decides when the schema is registered. Rejects with a `SchemaError` for a text that is not a schema, and
 * with a `CompatibilityWorkerBusyError`.
 */
export async function findConflicts(
  schema: SubjectSchema,
  earlier: readonly RegisteredSchema[],
  rules: CompatibilityRules,
  { lookup, compatibilityWorker }: ComparisonDependencies,
): Promise<readonly string[]> {
  const operations = new SchemaOperations({ worker: compatibilityWorker })
  const candidate = await (await toParseable(await toUnparsed(schema, lookup), 'strict', operations)).parse()
  const versions = earlier.map((version) => ({ ...version, properties: version.metadata?.properties }))
  const compared: ComparedVersion[] = []
  for (const version of comparedVersions(schema.metadata?.properties, versions, rules)) {
    const { schemaType = 'AVRO' } = version
    const isParsed = schemaType === candidate.type
    const unparsed = await toUnparsed(isParsed ? version : { ...version, references: [] }, lookup).catch(
      () => undefined,
    )
    if (unparsed) compared.push({ ...(await toParseable(unparsed, 'loose', operations)), number: version.version })
  }
  const sentences: string[] = []
  for await (const { version, found } of operations.conflicts(candidate, compared, rules)) {
    sentences.push(...sentencesOf(found, version, candidate.type))
  }
  return sentences
}

type ComparedVersion = EarlierVersion & { readonly number: number }

async function toParseable(
  source: Source,
  validation: 'strict' | 'loose',
  operations: SchemaOperations,
): Promise<EarlierVersion> {
  const unparsed = { ...source, validation, normalized: false }
  const format = await loadFormat(unparsed.type)
  const parse = () => {
    try {
      return format.parse(unparsed, { validation })
    } catch (error) {
      throw new SchemaError(schemaErrorMessage(error))
    }
  }
  return { schema: unparsed, parse: () => operations.parse(unparsed, parse) }
}

function sentencesOf(conflict: Conflict, { number, schema }: ComparedVersion, type: FormatType): readonly string[] {
  if (conflict.kind === 'unreadable') return []
  if (conflict.kind === 'type') return [`the schema type changes from ${schema.type} in version ${number} to ${type}`]
  return [...conflict.backward, ...conflict.forward].map((one) => `version ${number}: ${sentenceOf(one)}`)
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
  const { type, ...source } = await toUnparsed(schema, lookup)
  return (await loadFormat(type)).parse(source, options)
}

type Source = Omit<UnparsedSchema, 'validation' | 'normalized'>

async function toUnparsed(
  { subject, schema, schemaType = 'AVRO', references = [] }: SubjectSchema,
  lookup: SchemaLookup,
): Promise<Source> {
  const dependencies = await fetchDependencies(subject, references, lookup)
  return { type: schemaType, text: schema, references, dependencies }
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
