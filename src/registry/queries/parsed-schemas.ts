import type { ParsedSchema } from '../../formats/format.ts'
import { contextOf } from '../../formats/qualified-subject.ts'
import { type Dependency, dependenciesOf, type SchemaReference } from '../../formats/references.ts'
import { SchemaError } from '../../formats/schema-error.ts'
import { isParsedInProcess } from '../compatibility-worker/in-process-limits.ts'
import { schemaErrorMessage, type UnparsedSchema } from '../compatibility-worker/worker-job.ts'
import { OffloadableSchema, type WorkerResults } from '../compatibility-worker/worker-results.ts'
import { invalidSchema } from '../model/registry-error.ts'
import type { SchemaContent } from '../model/schema.ts'
import { Formats } from '../model/schema-types.ts'
import { type Subject, toSubject } from '../model/subject.ts'
import type { RegistryView } from '../store/registry-state.ts'

/** The parts of a content that the parser needs. */
export type SchemaInput = Pick<SchemaContent, 'type' | 'text' | 'references'>

export type ParsedSchemasOptions = {
  /** The maximum number of parsed schemas in the cache. They expire `expiryMs` after their last use. */
  readonly entriesMax: number
  readonly expiryMs: number
  readonly nowMs: () => number
}

const TEXT_MAX = 10_240

/**
 * Parses schemas and caches the most recently used ones. A large schema is not parsed here but represented by its
 * `workerResults`; an operation whose result is missing throws `MissingWorkerResult`.
 */
export class ParsedSchemas {
  readonly formats = new Formats()
  readonly #options: ParsedSchemasOptions
  /** Least recently used first. */
  readonly #parsed = new Map<string, { readonly schema: ParsedSchema; readonly usedMs: number }>()

  constructor(options: ParsedSchemasOptions) {
    this.#options = options
  }

  /** Parses a registered schema, with loose validation. Throws `invalid_schema`. */
  parseStored(
    view: RegistryView,
    subject: Subject,
    content: SchemaContent,
    workerResults: WorkerResults,
  ): OffloadableSchema {
    return this.parse(view, subject, content, { validation: 'loose', workerResults })
  }

  /**
   * Parses a schema and resolves its references in the context of `subject`. Throws `invalid_schema` with the reason.
   */
  parse(
    view: RegistryView,
    subject: Subject,
    unparsed: SchemaInput,
    { validation, workerResults }: { readonly validation: 'strict' | 'loose'; readonly workerResults: WorkerResults },
  ): OffloadableSchema {
    const { type, text, references } = unparsed
    try {
      const needed = dependencies(view, subject, references)
      const schema = { type, text, references, dependencies: needed, validation, normalized: false }
      if (isParsedInProcess(schema))
        return new OffloadableSchema(schema, this.#parse(subject, schema, workerResults), workerResults)
      const outcome = workerResults.get({ op: 'read', schema })
      if ('invalid' in outcome) throw new SchemaError(outcome.invalid)
      return new OffloadableSchema(schema, undefined, workerResults)
    } catch (error) {
      throw invalidSchema(
        `Invalid schema ${describe(subject, unparsed)} with refs ${listReferences(references)} of type ${type}, details: ${schemaErrorMessage(error)}`,
      )
    }
  }

  #parse(subject: Subject, schema: UnparsedSchema, workerResults: WorkerResults): ParsedSchema {
    const key = keyOf(subject, schema)
    const known = this.#take(key)
    if (known) return known
    const parsed = workerResults.timed('read', schema.type, () => this.formats.get(schema.type).parse(schema, schema))
    this.#keep(key, parsed)
    return parsed
  }

  #take(key: string): ParsedSchema | undefined {
    const known = this.#parsed.get(key)
    if (!known) return undefined
    this.#parsed.delete(key)
    const nowMs = this.#options.nowMs()
    if (nowMs - known.usedMs > this.#options.expiryMs) return undefined
    this.#parsed.set(key, { schema: known.schema, usedMs: nowMs })
    return known.schema
  }

  #keep(key: string, schema: ParsedSchema): void {
    const oldest = this.#parsed.keys().next().value
    if (oldest !== undefined && this.#parsed.size >= this.#options.entriesMax) this.#parsed.delete(oldest)
    this.#parsed.set(key, { schema, usedMs: this.#options.nowMs() })
  }
}

function keyOf(subject: Subject, { type, text, references = [], validation }: UnparsedSchema): string {
  const named = references.length === 0 ? '' : `${contextOf(subject)} ${JSON.stringify(references)}`
  return `${validation} ${type} ${named}\n${text}`
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
