import { OffloadableSchema } from '../../compatibility-worker/offloadable-schema.ts'
import { schemaErrorMessage, type UnparsedSchema } from '../../compatibility-worker/worker-job.ts'
import type { WorkerResults } from '../../compatibility-worker/worker-results.ts'
import type { ParsedSchema } from '../../formats/format.ts'
import { contextOf } from '../../formats/qualified-subject.ts'
import { type Dependency, dependenciesOf, type SchemaReference } from '../../formats/references.ts'
import { invalidSchema } from '../model/registry-error.ts'
import type { SchemaContent } from '../model/schema.ts'
import { Formats } from '../model/schema-types.ts'
import { type Subject, toSubject } from '../model/subject.ts'
import type { RegistryView } from '../store/registry-view.ts'

/** The parts of a content that the parser needs. */
export type SchemaInput = Pick<SchemaContent, 'type' | 'text' | 'references'>

export type ParsedSchemasOptions = {
  /** The maximum number of parsed schemas in the cache. They expire `expiryMs` after their last use. */
  readonly entriesMax: number
  readonly expiryMs: number
  readonly nowMs: () => number
}

type CachedSchema = {
  readonly schema: ParsedSchema
  /** Whether it has passed the checks of strict validation. They do not change the parsed schema. */
  readonly isStrict: boolean
  readonly usedMs: number
}

const TEXT_MAX = 10_240

/**
 * Parses schemas and caches the most recently used ones. A large schema is not parsed here but represented by its
 * `results`; an operation whose result is missing throws an `IncompleteCheck`.
 */
export class ParsedSchemas {
  readonly formats = new Formats()
  readonly #options: ParsedSchemasOptions
  /** Least recently used first. */
  readonly #parsed = new Map<string, CachedSchema>()

  constructor(options: ParsedSchemasOptions) {
    this.#options = options
  }

  /** Parses a registered schema, with loose validation. Throws `invalid_schema`. */
  parseStored(view: RegistryView, subject: Subject, content: SchemaContent, results: WorkerResults): OffloadableSchema {
    return this.parse(view, subject, content, { validation: 'loose', results })
  }

  /**
   * Parses a schema and resolves its references in the context of `subject`. Throws `invalid_schema` with the reason.
   */
  parse(
    view: RegistryView,
    subject: Subject,
    unparsed: SchemaInput,
    { validation, results }: { readonly validation: 'strict' | 'loose'; readonly results: WorkerResults },
  ): OffloadableSchema {
    const { type, text, references } = unparsed
    try {
      const needed = dependencies(view, subject, references)
      const schema = { type, text, references, dependencies: needed, validation, normalized: false }
      return OffloadableSchema.parse(schema, results, () => this.#parse(subject, schema, results))
    } catch (error) {
      throw invalidSchema(
        `Invalid schema ${describe(subject, unparsed)} with refs ${listReferences(references)} of type ${type}, details: ${schemaErrorMessage(error)}`,
      )
    }
  }

  #parse(subject: Subject, schema: UnparsedSchema, results: WorkerResults): ParsedSchema {
    const key = keyOf(subject, schema)
    const known = this.#take(key)
    if (known && (known.isStrict || schema.validation === 'loose')) return known.schema
    const read = results.timed('read', schema.type, () => this.#read(schema))
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
    const used = { ...known, usedMs: nowMs }
    this.#parsed.set(key, used)
    return used
  }

  #keep(key: string, read: Omit<CachedSchema, 'usedMs'>): void {
    const oldest = this.#parsed.keys().next().value
    if (oldest !== undefined && this.#parsed.size >= this.#options.entriesMax) this.#parsed.delete(oldest)
    this.#parsed.set(key, { ...read, usedMs: this.#options.nowMs() })
  }
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

function describe(subject: Subject, { type, text, references }: SchemaInput): string {
  return `{subject=${subject},version=0,id=-1,schemaType=${type},references=${listReferences(references)},metadata=null,ruleSet=null,schema=${truncatedText(text)}}`
}

function truncatedText(text: string): string {
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`
}

function listReferences(references: readonly SchemaReference[]): string {
  return `[${references.map(({ name, subject, version }) => `{name='${name}', subject='${subject}', version=${version}}`).join(', ')}]`
}
