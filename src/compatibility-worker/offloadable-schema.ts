import type { FormatType, ParsedSchema } from '../formats/format.ts'
import { SchemaError } from '../formats/schema-error.ts'
import type { SchemaTags, TagChange } from '../formats/tags.ts'
import { isParsedInProcess, isTaggedInProcess } from './in-process-limits.ts'
import type { SchemaJobs } from './schema-jobs.ts'
import { type SchemaSummary, schemaErrorMessage, type UnparsedSchema } from './worker-job.ts'

/**
 * A schema that may be too large to be parsed in this process; then the compatibility worker parses it for each operation.
 * Methods throw or reject with a `SchemaError`, and with a `CompatibilityWorkerBusyError`.
 */
export class OffloadableSchema implements SchemaSummary {
  readonly unparsed: UnparsedSchema
  /** Undefined if the schema is too large. */
  readonly parsed: ParsedSchema | undefined
  readonly #summary: SchemaSummary
  readonly #jobs: SchemaJobs

  constructor(unparsed: UnparsedSchema, read: ParsedSchema | SchemaSummary, jobs: SchemaJobs) {
    this.unparsed = unparsed
    this.parsed = 'type' in read ? read : undefined
    this.#summary = read
    this.#jobs = jobs
  }

  get type(): FormatType {
    return this.unparsed.type
  }

  get canonical(): string {
    return this.#summary.canonical
  }

  get name(): string | undefined {
    return this.#summary.name
  }

  get fields(): readonly string[] {
    return this.#summary.fields
  }

  async normalized(): Promise<OffloadableSchema> {
    const unparsed = { ...this.unparsed, normalized: true }
    const read = this.parsed
      ? this.use((schema) => schema.normalized())
      : await this.#jobs.run({ op: 'read', schema: unparsed })
    return new OffloadableSchema(unparsed, read, this.#jobs)
  }

  /** False if a schema with this text cannot be equivalent, as far as that is known without parsing it. */
  canEqual(text: string): boolean {
    if (!isParsedInProcess({ ...this.unparsed, text, dependencies: [] })) return true
    return this.parsed?.canEqual?.(text) ?? true
  }

  async formatted(format: string): Promise<string | undefined> {
    if (this.parsed) return this.use((schema) => schema.formatted(format))
    return this.#jobs.run({ op: 'format', schema: this.unparsed, format })
  }

  async tags(): Promise<readonly SchemaTags[]> {
    if (this.parsed && isTaggedInProcess(this.unparsed)) {
      return this.#jobs.timed('tags', this.type, () => this.use((schema) => schema.tags()))
    }
    return this.#jobs.run({ op: 'tags', schema: this.unparsed })
  }

  async tagged(change: TagChange): Promise<string> {
    if (this.parsed && isTaggedInProcess(this.unparsed)) {
      return this.#jobs.timed('tag', this.type, () => this.use((schema) => schema.tagged(change)))
    }
    return this.#jobs.run({ op: 'tag', schema: this.unparsed, change })
  }

  /**
   * Calls `use` with the parsed schema and converts its errors to a `SchemaError`: an error in a loosely parsed schema can
   * appear only on use. Must not be called for a large schema.
   */
  use<Result>(use: (schema: ParsedSchema) => Result): Result {
    if (!this.parsed) throw new Error('a large schema is used in this process')
    try {
      return use(this.parsed)
    } catch (error) {
      throw new SchemaError(schemaErrorMessage(error))
    }
  }
}
