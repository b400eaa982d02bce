import type { CompareOptions, FormatType, Incompatibility, ParsedSchema } from '../formats/format.ts'
import { SchemaError } from '../formats/schema-error.ts'
import type { SchemaTags, TagChange } from '../formats/tags.ts'
import { isComparedInProcess, isParsedInProcess, isTaggedInProcess } from './in-process-limits.ts'
import {
  type ResultOf,
  type SchemaSummary,
  schemaErrorMessage,
  type UnparsedSchema,
  type WorkerJobOutcome,
} from './worker-job.ts'
import type { SchemaJob, WorkerResults } from './worker-results.ts'

/**
 * A schema that may be too large to be parsed in this process; then its properties come from the `WorkerResults`. Two
 * schemas are compared in this process only if both are small. Methods throw an `IncompleteCheck` or a `SchemaError`.
 */
export class OffloadableSchema implements ParsedSchema {
  readonly #schema: UnparsedSchema
  readonly #parsed: ParsedSchema | undefined
  readonly #results: WorkerResults

  /**
   * Calls `parse` if the schema is small; otherwise the compatibility worker parses it. Throws the error of `parse`, an
   * `IncompleteCheck`, and a `SchemaError` for a text that is not a schema.
   */
  static parse(schema: UnparsedSchema, results: WorkerResults, parse: () => ParsedSchema): OffloadableSchema {
    if (isParsedInProcess(schema)) return new OffloadableSchema(schema, parse(), results)
    resultOf(results.get({ op: 'read', schema }))
    return new OffloadableSchema(schema, undefined, results)
  }

  private constructor(schema: UnparsedSchema, parsed: ParsedSchema | undefined, results: WorkerResults) {
    this.#schema = schema
    this.#parsed = parsed
    this.#results = results
  }

  get type(): FormatType {
    return this.#schema.type
  }

  get canonical(): string {
    return this.#read().canonical
  }

  get name(): string | undefined {
    return this.#read().name
  }

  get fields(): readonly string[] {
    return this.#read().fields
  }

  get hasPatterns(): boolean {
    return this.#parsed?.hasPatterns ?? true
  }

  normalized(): OffloadableSchema {
    const parsed = this.#parsed && asSchemaErrors(this.#parsed, (schema) => schema.normalized())
    return new OffloadableSchema({ ...this.#schema, normalized: true }, parsed, this.#results)
  }

  canEqual(text: string): boolean {
    if (!isParsedInProcess({ ...this.#schema, text, dependencies: [] })) return true
    return this.#parsed?.canEqual?.(text) ?? true
  }

  isEquivalent(other: OffloadableSchema): boolean {
    const [parsed, otherParsed] = [this.#parsed, other.#parsed]
    if (parsed && otherParsed) return asSchemaErrors(parsed, (schema) => schema.isEquivalent(otherParsed))
    // Equivalent canonical texts differ only in order, so texts of different lengths need no job.
    if (this.canonical.length !== other.canonical.length) return false
    return resultOf(this.#results.get({ op: 'equivalent', schema: this.#schema, other: other.#schema }))
  }

  formatted(format: string): string | undefined {
    if (this.#parsed) return asSchemaErrors(this.#parsed, (schema) => schema.formatted(format))
    return resultOf(this.#results.get({ op: 'format', schema: this.#schema, format }))
  }

  tags(): readonly SchemaTags[] {
    const parsed = this.#parsed
    if (parsed && isTaggedInProcess(this.#schema))
      return this.#results.timed('tags', this.type, () => asSchemaErrors(parsed, (schema) => schema.tags()))
    return resultOf(this.#results.get({ op: 'tags', schema: this.#schema }))
  }

  tagged(change: TagChange): string {
    const parsed = this.#parsed
    if (parsed && isTaggedInProcess(this.#schema)) {
      return this.#results.timed('tag', this.type, () => asSchemaErrors(parsed, (schema) => schema.tagged(change)))
    }
    return resultOf(this.#results.get({ op: 'tag', schema: this.#schema, change }))
  }

  incompatibilities(writer: OffloadableSchema, options: CompareOptions): readonly Incompatibility[] {
    const [reader, other] = [this.#parsed, writer.#parsed]
    if (reader && other && isComparedInProcess(this.#schema, reader) && isComparedInProcess(writer.#schema, other)) {
      return this.#results.timed('compare', this.type, () =>
        asSchemaErrors(reader, (schema) => schema.incompatibilities(other, options)),
      )
    }
    return resultOf(this.#results.get({ op: 'compare', reader: this.#schema, writer: writer.#schema, options }))
  }

  #read(): SchemaSummary {
    return this.#parsed ?? resultOf(this.#results.get({ op: 'read', schema: this.#schema }))
  }
}

/**
 * Calls `use` and converts its errors to a `SchemaError`: an error in a loosely parsed schema can appear only on use.
 */
function asSchemaErrors<Result>(schema: ParsedSchema, use: (schema: ParsedSchema) => Result): Result {
  try {
    return use(schema)
  } catch (error) {
    throw new SchemaError(schemaErrorMessage(error))
  }
}

function resultOf<Op extends SchemaJob['op']>(outcome: WorkerJobOutcome<Op>): ResultOf<Op> {
  if ('invalid' in outcome) throw new SchemaError(outcome.invalid)
  return outcome.result
}
