import { truncateText } from '../../common/truncate-text.ts'
import type { OffloadableSchema } from '../../compatibility-worker/offloadable-schema.ts'
import type { EarlierVersion, SchemaOperations } from '../../compatibility-worker/schema-operations.ts'
import { schemaErrorMessage, type UnparsedSchema } from '../../compatibility-worker/worker-job.ts'
import type { ParsedSchema } from '../../formats/format.ts'
import { contextOf } from '../../formats/qualified-subject.ts'
import { type Dependency, dependenciesOf, type SchemaReference } from '../../formats/references.ts'
import { invalidSchema } from '../model/registry-error.ts'
import type { SchemaContent, SchemaVersion } from '../model/schema.ts'
import { Formats } from '../model/schema-types.ts'
import { type Subject, toSubject } from '../model/subject.ts'
import type { RegistryView } from '../store/registry-view.ts'

/** The parts of a content that the parser needs. */
export type SchemaInput = Pick<SchemaContent, 'type' | 'text' | 'references'>

export type ParsedSchemasOptions = {
  readonly operations: SchemaOperations
  /** The maximum number of parsed schemas in the cache. They expire `expiryMs` after their last use. */
  readonly entriesMax: number
  readonly expiryMs: number
  readonly nowMs: () => number
}

type CachedSchema = {
  readonly schema: ParsedSchema
  /** Whether it has passed the checks of strict validation. They do not change the parsed schema. */
  readonly isStrict: boolean
  usedMs: number
}

const TEXT_MAX = 10_240

/** Parses schemas and caches the most recently used ones, except large ones, which the compatibility worker parses. */
export class ParsedSchemas {
  readonly formats = new Formats()
  readonly #options: ParsedSchemasOptions
  /** Least recently used first. */
  readonly #parsed = new Map<string, CachedSchema>()

  constructor(options: ParsedSchemasOptions) {
    this.#options = options
  }

  get operations(): SchemaOperations {
    return this.#options.operations
  }

  /**
   * Parses a schema and resolves its references in the context of `subject`. Rejects with `invalid_schema` with the reason.
   */
  async parse(
    view: RegistryView,
    subject: Subject,
    input: SchemaInput,
    validation: 'strict' | 'loose',
  ): Promise<OffloadableSchema> {
    return await this.#parse(subject, toUnparsed(view, subject, input, validation))
  }

  /** A stored version, as comparisons need it. Its references are resolved now; if that fails, `parse` rejects. */
  stored(view: RegistryView, { subject, content }: Pick<SchemaVersion, 'subject' | 'content'>): EarlierVersion {
    try {
      const schema = toUnparsed(view, subject, content, 'loose')
      return { schema, parse: () => this.#parse(subject, schema) }
    } catch (error) {
      const { type, text, references } = content
      const schema = { type, text, references, validation: 'loose', normalized: false } as const
      return { schema, parse: () => Promise.reject(error) }
    }
  }

  async #parse(subject: Subject, schema: UnparsedSchema): Promise<OffloadableSchema> {
    const { type, references = [] } = schema
    if (!this.formats.isLoaded(type)) await this.formats.load(type)
    try {
      return await this.operations.parse(schema, () => this.#parseSmall(subject, schema))
    } catch (error) {
      throw invalidSchema(
        `Invalid schema ${describe(subject, schema)} with refs ${listReferences(references)} of type ${type}, details: ${schemaErrorMessage(error)}`,
      )
    }
  }

  #parseSmall(subject: Subject, schema: UnparsedSchema): ParsedSchema {
    const key = keyOf(subject, schema)
    const known = this.#take(key)
    if (known && (known.isStrict || schema.validation === 'loose')) return known.schema
    const read = this.operations.jobs.timed('read', schema.type, () => this.#read(schema))
    this.#keep(key, read)
    return read.schema
  }

  #read(schema: UnparsedSchema): Omit<CachedSchema, 'usedMs'> {
    const format = this.formats.get(schema.type)
    if (schema.validation === 'strict') return { schema: format.parse(schema, schema), isStrict: true }
    // A new schema is looked up before it is registered. The strict checks of Avro take less time than a second parse.
    if (schema.type === 'AVRO') {
      try {
        return { schema: format.parse(schema, { validation: 'strict' }), isStrict: true }
      } catch {
        // The error is that of loose validation.
      }
    }
    return { schema: format.parse(schema, schema), isStrict: false }
  }

  #take(key: string): CachedSchema | undefined {
    const known = this.#parsed.get(key)
    if (!known) return undefined
    this.#parsed.delete(key)
    const nowMs = this.#options.nowMs()
    if (nowMs - known.usedMs > this.#options.expiryMs) return undefined
    known.usedMs = nowMs
    this.#parsed.set(key, known)
    return known
  }

  #keep(key: string, read: Omit<CachedSchema, 'usedMs'>): void {
    const oldest = this.#parsed.keys().next().value
    if (oldest !== undefined && this.#parsed.size >= this.#options.entriesMax) this.#parsed.delete(oldest)
    this.#parsed.set(key, { ...read, usedMs: this.#options.nowMs() })
  }
}

function toUnparsed(
  view: RegistryView,
  subject: Subject,
  { type, text, references }: SchemaInput,
  validation: 'strict' | 'loose',
): UnparsedSchema {
  const needed = dependencies(view, subject, references)
  return { type, text, references, dependencies: needed, validation, normalized: false }
}

function keyOf(subject: Subject, { type, text, references = [] }: UnparsedSchema): string {
  const named = references.length === 0 ? '' : `${contextOf(subject)} ${JSON.stringify(references)}`
  return `${type} ${named}\n${text}`
}

/** Resolves references. An explicit version can be soft-deleted. Throws `invalid_schema` if one does not exist. */
function dependencies(
  view: RegistryView,
  subject: Subject,
  references: readonly SchemaReference[],
): readonly Dependency[] {
  return dependenciesOf(
    subject,
    references,
    (reference) => {
      const target = toSubject(reference.subject)
      return (reference.version === -1 ? view.latest(target) : view.version(target, reference.version))?.content
    },
    (reference) => {
      throw invalidSchema(
        `No schema reference found for subject "${reference.subject}" and version ${reference.version}`,
      )
    },
  )
}

function describe(subject: Subject, { type, text, references = [] }: UnparsedSchema): string {
  return `{subject=${subject},version=0,id=-1,schemaType=${type},references=${listReferences(references)},metadata=null,ruleSet=null,schema=${truncateText(text, TEXT_MAX, '…')}}`
}

function listReferences(references: readonly SchemaReference[]): string {
  return `[${references.map(({ name, subject, version }) => `{name='${name}', subject='${subject}', version=${version}}`).join(', ')}]`
}
