import type { CompareOptions, FormatType, Incompatibility, ParsedSchema } from '../../formats/format.ts'
import type { SchemaTags, TagChange } from '../../formats/tags.ts'
import type { SchemaOperation } from '../metrics/schema-operation-metrics.ts'
import { invalidSchema } from '../model/registry-error.ts'
import { guidOf, type SchemaContent } from '../model/schema.ts'
import type { CompatibilityWorker } from './compatibility-worker.ts'
import { isComparedInProcess, isParsedInProcess, isTaggedInProcess } from './in-process-limits.ts'
import {
  type ResultOf,
  type SchemaSummary,
  schemaErrorMessage,
  type UnparsedSchema,
  type WorkerJob,
  type WorkerJobOutcome,
} from './worker-job.ts'

/** In characters. The GUIDs of larger texts are cached: hashing takes 2 ms for one million characters. */
const LARGE_TEXT_MIN = 100_000

type SchemaJob = Exclude<WorkerJob, { op: 'body' }>

/**
 * Thrown by a decision that needs the result of a job. The job is run, and the decision is repeated with its result.
 */
export class MissingWorkerResult extends Error {
  readonly workerJob: SchemaJob

  constructor(job: SchemaJob) {
    super('the compatibility worker has not run this job yet')
    this.workerJob = job
  }
}

/** The results of the compatibility worker for one request. */
export class WorkerResults {
  readonly #onSchemaOperation: (operation: SchemaOperation) => void
  readonly #nowMs: () => number
  readonly #outcomes = new Map<string, WorkerJobOutcome>()
  readonly #guids = new Map<string, string>()
  /** Numbers that replace texts in keys, because texts can be long. */
  readonly #texts = new Map<string, number>()

  /** `onSchemaOperation` is called for every operation, in the worker or in this process. `nowMs` measures them. */
  constructor(onSchemaOperation: (operation: SchemaOperation) => void, nowMs: () => number) {
    this.#onSchemaOperation = onSchemaOperation
    this.#nowMs = nowMs
  }

  /** The GUID of a content, computed once for large texts. */
  guidOf(content: Omit<SchemaContent, 'guid'>): string {
    if (content.text.length < LARGE_TEXT_MIN) return guidOf(content)
    const { text, ...rest } = content
    const key = JSON.stringify([this.#numberOf(text), rest])
    const guid = this.#guids.get(key) ?? guidOf(content)
    this.#guids.set(key, guid)
    return guid
  }

  /** Runs a job in the compatibility worker and stores its outcome. Rejects as `CompatibilityWorker.run`. */
  async find(job: SchemaJob, worker: Pick<CompatibilityWorker, 'run'>): Promise<void> {
    const startMs = this.#nowMs()
    const outcome = await worker.run(job)
    this.#outcomes.set(this.#keyOf(job), outcome)
    this.#report(job.op, typeOf(job), startMs, 'invalid' in outcome)
  }

  /** Runs a small operation in this process and reports its duration. */
  timed<Result>(operation: SchemaJob['op'], type: FormatType, act: () => Result): Result {
    const startMs = this.#nowMs()
    let failed = true
    try {
      const result = act()
      failed = false
      return result
    } finally {
      this.#report(operation, type, startMs, failed)
    }
  }

  /** Returns the outcome of a job. Throws `MissingWorkerResult` if the job was not run yet. */
  get<Op extends SchemaJob['op']>(job: SchemaJob & { readonly op: Op }): WorkerJobOutcome<Op> {
    const outcome = this.#outcomes.get(this.#keyOf(job))
    if (!outcome) throw new MissingWorkerResult(job)
    return outcome as WorkerJobOutcome<Op>
  }

  #report(operation: SchemaJob['op'], type: FormatType, startMs: number, failed: boolean): void {
    this.#onSchemaOperation({ type, operation, ms: this.#nowMs() - startMs, failed })
  }

  #keyOf(job: SchemaJob): string {
    if (job.op === 'compare') {
      return JSON.stringify([job.op, this.#schemaKey(job.reader), this.#schemaKey(job.writer), job.options])
    }
    if (job.op === 'equivalent')
      return JSON.stringify([job.op, this.#schemaKey(job.schema), this.#schemaKey(job.other)])
    const { op, schema, ...options } = job
    return JSON.stringify([op, this.#schemaKey(schema), options])
  }

  #schemaKey({ type, text, references = [], dependencies = [], validation, normalized }: UnparsedSchema): unknown {
    const needed = dependencies.map((dependency) => ({ ...dependency, text: this.#numberOf(dependency.text) }))
    return [type, this.#numberOf(text), references, needed, validation, normalized]
  }

  #numberOf(text: string): number {
    const number = this.#texts.get(text) ?? this.#texts.size
    this.#texts.set(text, number)
    return number
  }
}

/**
 * A schema that may be too large to be parsed in this process; then its properties come from the `WorkerResults`. Two
 * schemas are compared in this process only if both are small. Methods throw `MissingWorkerResult` or `invalid_schema`.
 */
export class OffloadableSchema implements ParsedSchema {
  readonly #schema: UnparsedSchema
  readonly #parsed: ParsedSchema | undefined
  readonly #workerResults: WorkerResults

  /** `parsed` is undefined if the schema is too large to be parsed in this process. */
  constructor(schema: UnparsedSchema, parsed: ParsedSchema | undefined, workerResults: WorkerResults) {
    this.#schema = schema
    this.#parsed = parsed
    this.#workerResults = workerResults
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
    const parsed = this.#parsed && withInvalidSchemaErrors(this.#parsed, (schema) => schema.normalized())
    return new OffloadableSchema({ ...this.#schema, normalized: true }, parsed, this.#workerResults)
  }

  canEqual(text: string): boolean {
    if (!isParsedInProcess({ ...this.#schema, text, dependencies: [] })) return true
    return this.#parsed?.canEqual?.(text) ?? true
  }

  isEquivalent(other: OffloadableSchema): boolean {
    const [parsed, otherParsed] = [this.#parsed, other.#parsed]
    if (parsed && otherParsed) return withInvalidSchemaErrors(parsed, (schema) => schema.isEquivalent(otherParsed))
    // Equivalent canonical texts differ only in order, so texts of different lengths need no job.
    if (this.canonical.length !== other.canonical.length) return false
    return resultOf(this.#workerResults.get({ op: 'equivalent', schema: this.#schema, other: other.#schema }))
  }

  formatted(format: string): string | undefined {
    if (this.#parsed) return withInvalidSchemaErrors(this.#parsed, (schema) => schema.formatted(format))
    return resultOf(this.#workerResults.get({ op: 'format', schema: this.#schema, format }))
  }

  tags(): readonly SchemaTags[] {
    const parsed = this.#parsed
    if (parsed && isTaggedInProcess(this.#schema))
      return this.#workerResults.timed('tags', this.type, () =>
        withInvalidSchemaErrors(parsed, (schema) => schema.tags()),
      )
    return resultOf(this.#workerResults.get({ op: 'tags', schema: this.#schema }))
  }

  tagged(change: TagChange): string {
    const parsed = this.#parsed
    if (parsed && isTaggedInProcess(this.#schema)) {
      return this.#workerResults.timed('tag', this.type, () =>
        withInvalidSchemaErrors(parsed, (schema) => schema.tagged(change)),
      )
    }
    return resultOf(this.#workerResults.get({ op: 'tag', schema: this.#schema, change }))
  }

  incompatibilities(writer: OffloadableSchema, options: CompareOptions): readonly Incompatibility[] {
    const [reader, other] = [this.#parsed, writer.#parsed]
    if (reader && other && isComparedInProcess(this.#schema, reader) && isComparedInProcess(writer.#schema, other)) {
      return this.#workerResults.timed('compare', this.type, () =>
        withInvalidSchemaErrors(reader, (schema) => schema.incompatibilities(other, options)),
      )
    }
    return resultOf(this.#workerResults.get({ op: 'compare', reader: this.#schema, writer: writer.#schema, options }))
  }

  #read(): SchemaSummary {
    return this.#parsed ?? resultOf(this.#workerResults.get({ op: 'read', schema: this.#schema }))
  }
}

/**
 * Calls `use` and converts its errors to `invalid_schema`: an error in a loosely parsed schema can appear only on use.
 */
function withInvalidSchemaErrors<Result>(schema: ParsedSchema, use: (schema: ParsedSchema) => Result): Result {
  try {
    return use(schema)
  } catch (error) {
    throw invalidSchemaDetails(schemaErrorMessage(error))
  }
}

function typeOf(job: SchemaJob): FormatType {
  return job.op === 'compare' ? job.reader.type : job.schema.type
}

function resultOf<Op extends SchemaJob['op']>(outcome: WorkerJobOutcome<Op>): ResultOf<Op> {
  if ('invalid' in outcome) throw invalidSchemaDetails(outcome.invalid)
  return outcome.result
}

function invalidSchemaDetails(details: string): Error {
  return invalidSchema(`Invalid schema, details: ${details}`)
}
