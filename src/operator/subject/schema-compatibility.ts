import { setImmediate } from 'node:timers/promises'
import type { NewSchema, RegisteredReference, RegisteredSchema } from '../../clients/registry-client.ts'
import {
  type CompatibilityWorker,
  CompatibilityWorkerBusyError,
} from '../../compatibility-worker/compatibility-worker.ts'
import { OffloadableSchema } from '../../compatibility-worker/offloadable-schema.ts'
import { schemaErrorMessage, type UnparsedSchema } from '../../compatibility-worker/worker-job.ts'
import { repeatWithResults, WorkerResults } from '../../compatibility-worker/worker-results.ts'
import type { Incompatibility, ParsedSchema, ParseOptions } from '../../formats/format.ts'
import { loadFormat } from '../../formats/load-format.ts'
import { contextOf, qualifySubject } from '../../formats/qualified-subject.ts'
import { type Dependency, dependenciesOf, type Referenced } from '../../formats/references.ts'
import { SchemaError } from '../../formats/schema-error.ts'
import { type CompatibilityRules, comparedVersions, conflictsWith } from '../../formats/version-compatibility.ts'

/** The comparison of a schema with many versions gives way to other resources after this time. */
const TURN_MS = 10

/** A schema that is declared for a subject. */
export type SubjectSchema = NewSchema & { readonly subject: string }

/** Reads a referenced schema by its qualified subject. */
export type SchemaLookup = (subject: string, version: number) => Promise<RegisteredSchema>

/** What a comparison uses besides the schemas. */
export type ComparisonDependencies = {
  readonly lookup: SchemaLookup
  /** Parses and compares what would block other resources. */
  readonly compatibilityWorker: Pick<CompatibilityWorker, 'runSome'>
}

/**
 * Why `schema` may not be registered after `earlier` (ascending) under these rules, one sentence each; empty when it
 * may. It is the registry's decision, made before anything is written. An earlier version that cannot be parsed is left
 * out: the registry decides when the schema is registered. Throws a `SchemaError` for a text that is not a schema, and a
 * `CompatibilityWorkerBusyError`.
 */
export async function findConflicts(
  schema: SubjectSchema,
  earlier: readonly RegisteredSchema[],
  rules: CompatibilityRules,
  { lookup, compatibilityWorker }: ComparisonDependencies,
): Promise<readonly string[]> {
  const comparison = new SchemaComparison(lookup, compatibilityWorker)
  const candidate = await comparison.parse(schema, 'strict')
  const versions = earlier.map((version) => ({ ...version, properties: version.metadata?.properties }))
  const sentences: string[] = []
  let turnMs = performance.now()
  for (const version of comparedVersions(schema.metadata?.properties, versions, rules)) {
    // Each comparison is bounded. A turn of the event loop between them lets other resources continue.
    if (performance.now() - turnMs >= TURN_MS) {
      await setImmediate()
      turnMs = performance.now()
    }
    sentences.push(...(await comparison.compare(candidate, version, rules)))
  }
  return sentences
}

/** Compares schemas in this process where they are small and simple, otherwise in the compatibility worker. */
class SchemaComparison {
  readonly #lookup: SchemaLookup
  readonly #compatibilityWorker: ComparisonDependencies['compatibilityWorker']
  readonly #results = new WorkerResults(
    () => undefined,
    () => performance.now(),
  )

  constructor(lookup: SchemaLookup, compatibilityWorker: ComparisonDependencies['compatibilityWorker']) {
    this.#lookup = lookup
    this.#compatibilityWorker = compatibilityWorker
  }

  /** Throws a `SchemaError` for a text that is not a schema, and the error of `lookup`. */
  async parse(schema: SubjectSchema, validation: 'strict' | 'loose'): Promise<OffloadableSchema> {
    const { type, ...source } = await toUnparsed(schema, this.#lookup)
    const unparsed: UnparsedSchema = { type, ...source, validation, normalized: false }
    const format = await loadFormat(type)
    return this.#repeat(() =>
      OffloadableSchema.parse(unparsed, this.#results, () => {
        try {
          return format.parse(unparsed, { validation })
        } catch (error) {
          throw new SchemaError(schemaErrorMessage(error))
        }
      }),
    )
  }

  async compare(
    candidate: OffloadableSchema,
    version: RegisteredSchema,
    rules: CompatibilityRules,
  ): Promise<readonly string[]> {
    const type = version.schemaType ?? 'AVRO'
    const parsed = type === candidate.type ? await this.parse(version, 'loose').catch(undefinedIfInvalid) : undefined
    const compared = { version: version.version, type, parsed: () => parsed }
    const conflicts = await this.#repeat(() => [...conflictsWith(candidate, [compared], rules)])
    return conflicts.flatMap((conflict) => {
      if (conflict.kind === 'type') {
        return [`the schema type changes from ${type} in version ${version.version} to ${candidate.type}`]
      }
      const found = [...conflict.backward, ...conflict.forward]
      return found.map((incompatibility) => `version ${version.version}: ${sentenceOf(incompatibility)}`)
    })
  }

  #repeat<Result>(act: () => Result): Promise<Result> {
    return repeatWithResults(act, this.#results, this.#compatibilityWorker)
  }
}

function undefinedIfInvalid(error: unknown): undefined {
  if (error instanceof CompatibilityWorkerBusyError) throw error
  return undefined
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

async function toUnparsed(
  { subject, schema, schemaType = 'AVRO', references = [] }: SubjectSchema,
  lookup: SchemaLookup,
): Promise<Pick<UnparsedSchema, 'type' | 'text' | 'references' | 'dependencies'>> {
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
