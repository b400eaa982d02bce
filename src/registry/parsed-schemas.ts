import { type ParsedSchema, SchemaError } from '../formats/format.ts'
import { type Dependency, dependenciesOf, type SchemaReference } from '../formats/references.ts'
import { invalidSchema } from './failure.ts'
import { Formats } from './formats.ts'
import type { SchemaContent } from './schema.ts'
import type { RegistryView } from './store/state.ts'
import { contextOf, type Subject, toSubject } from './subject.ts'

/** What is parsed: a content, or one that has no identity yet. */
export type Unparsed = Pick<SchemaContent, 'type' | 'text' | 'references'>

export type ParsedSchemasOptions = {
  /** How many schemas are held parsed, and how long after their last use. */
  readonly entriesMax: number
  readonly expiryMs: number
  readonly nowMs: () => number
}

/** Texts longer than this are parsed anew each time: a bound on entries alone would not bound memory. */
const CACHED_TEXT_MAX = 256 * 1024

/**
 * Schemas in the form that compares and prints them. Parsing costs, so the last ones are kept; the same text asked for
 * again is a look-up.
 */
export class ParsedSchemas {
  readonly formats = new Formats()
  readonly #options: ParsedSchemasOptions
  /** Least recently used first. */
  readonly #parsed = new Map<string, { readonly schema: ParsedSchema; readonly usedMs: number }>()

  constructor(options: ParsedSchemasOptions) {
    this.#options = options
  }

  /** A schema that is registered already: read as far as it can be read. Throws `invalid_schema`. */
  stored(view: RegistryView, subject: Subject, content: SchemaContent): ParsedSchema {
    return this.parse(view, subject, content, 'loose')
  }

  /** Throws `invalid_schema` with the reason. References are those of a schema under `subject`. */
  parse(view: RegistryView, subject: Subject, unparsed: Unparsed, validation: 'strict' | 'loose'): ParsedSchema {
    const key = keyOf(subject, unparsed, validation)
    const known = this.#take(key)
    if (known) return known
    const parsed = this.#parse(view, subject, unparsed, validation)
    if (unparsed.text.length <= CACHED_TEXT_MAX) this.#keep(key, parsed)
    return parsed
  }

  #parse(view: RegistryView, subject: Subject, unparsed: Unparsed, validation: 'strict' | 'loose'): ParsedSchema {
    const { text, references } = unparsed
    try {
      return this.formats
        .get(unparsed.type)
        .parse({ text, references, dependencies: dependencies(view, subject, references) }, { validation })
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error
      throw invalidSchema(
        `Invalid schema ${describe(subject, unparsed)} with refs ${listReferences(references)} of type ${unparsed.type}, details: ${error.message}`,
      )
    }
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

function keyOf(subject: Subject, { type, text, references }: Unparsed, validation: string): string {
  const named = references.length === 0 ? '' : `${contextOf(subject)} ${JSON.stringify(references)}`
  return `${validation} ${type} ${named}\n${text}`
}

/** Soft-deleted versions may still be referred to. */
function dependencies(
  view: RegistryView,
  subject: Subject,
  references: readonly SchemaReference[],
): readonly Dependency[] {
  const context = contextOf(subject)
  return dependenciesOf(
    references,
    (reference) => {
      const target = toSubject(reference.subject, context)
      return (reference.version === -1 ? view.latest(target) : view.version(target, reference.version))?.content
    },
    (reference) => {
      throw invalidSchema(
        `No schema reference found for subject "${reference.subject}" and version ${reference.version}`,
      )
    },
  )
}

function describe(subject: Subject, { type, text, references }: Unparsed): string {
  return `{subject=${subject},version=0,id=-1,schemaType=${type},references=${listReferences(references)},metadata=null,ruleSet=null,schema=${text}}`
}

function listReferences(references: readonly SchemaReference[]): string {
  return `[${references.map(({ name, subject, version }) => `{name='${name}', subject='${subject}', version=${version}}`).join(', ')}]`
}
