import type { CompareOptions, FormatType, Incompatibility, ParsedSchema } from '../../formats/format.ts'
import type { SchemaTags, TagChange } from '../../formats/tags.ts'
import type { SchemaOperation } from '../metrics/metrics.ts'
import { invalidSchema } from '../model/registry-error.ts'
import { guidOf, type SchemaContent } from '../model/schema.ts'
import type { CompatibilityWorker } from './compatibility-worker.ts'
import { isComparedInProcess, isTaggedInProcess } from './in-process-limits.ts'
import {
  type ResultOf,
  type SchemaSummary,
  schemaErrorMessage,
  type UnparsedSchema,
  type WorkerJob,
  type WorkerJobOutcome,
} from './worker-job.ts'

/** In characters. Hashing takes 2 ms for each million. */
const LARGE_TEXT_MIN = 100_000

type SchemaJob = Exclude<WorkerJob, { op: 'body' }>

/** What a decision lacks to be made. It is found out elsewhere, and the decision is made anew with it. */
export class MissingWorkerResult extends Error {
  readonly workerJob: SchemaJob

  constructor(job: SchemaJob) {
    super('a schema has to be examined first')
    this.workerJob = job
  }
}

/** What was found out for one request about large schemas. */
export class WorkerResults {
  readonly #onSchemaOperation: (operation: SchemaOperation) => void
  readonly #outcomes = new Map<string, WorkerJobOutcome>()
  readonly #guids = new Map<string, string>()
  /** Texts may be long: each is told by a number. */
  readonly #texts = new Map<string, number>()

  /** `onSchemaOperation` hears of every operation, wherever it is done. */
  constructor(onSchemaOperation: (operation: SchemaOperation) => void) {
    this.#onSchemaOperation = onSchemaOperation
  }

  /** The identity of a content, found out once where that takes its time. */
  guidOf(content: Omit<SchemaContent, 'guid'>): string {
    if (content.text.length < LARGE_TEXT_MIN) return guidOf(content)
    const { text, ...rest } = content
    const key = JSON.stringify([this.#numberOf(text), rest])
    const guid = this.#guids.get(key) ?? guidOf(content)
    this.#guids.set(key, guid)
    return guid
  }

  async find(job: SchemaJob, examiner: Pick<CompatibilityWorker, 'run'>): Promise<void> {
    const startMs = performance.now()
    const outcome = await examiner.run(job)
    this.#outcomes.set(this.#keyOf(job), outcome)
    this.#tell(job.op, typeOf(job), startMs, 'wrong' in outcome)
  }

  /** Does something here that is small. */
  timed<Result>(operation: SchemaJob['op'], type: FormatType, act: () => Result): Result {
    const startMs = performance.now()
    let failed = true
    try {
      const result = act()
      failed = false
      return result
    } finally {
      this.#tell(operation, type, startMs, failed)
    }
  }

  /** Throws `MissingWorkerResult` when it was not found out yet. */
  get<Op extends SchemaJob['op']>(job: SchemaJob & { readonly op: Op }): WorkerJobOutcome<Op> {
    const outcome = this.#outcomes.get(this.#keyOf(job))
    if (!outcome) throw new MissingWorkerResult(job)
    return outcome as WorkerJobOutcome<Op>
  }

  #tell(operation: SchemaJob['op'], type: FormatType, startMs: number, failed: boolean): void {
    this.#onSchemaOperation({ type, operation, ms: performance.now() - startMs, failed })
  }

  #keyOf(job: SchemaJob): string {
    if (job.op === 'compare') {
      return JSON.stringify([job.op, this.#schemaKey(job.reader), this.#schemaKey(job.writer), job.options])
    }
    if (job.op === 'equivalent')
      return JSON.stringify([job.op, this.#schemaKey(job.schema), this.#schemaKey(job.other)])
    const { op, schema, ...how } = job
    return JSON.stringify([op, this.#schemaKey(schema), how])
  }

  #schemaKey({ type, text, references = [], dependencies = [], validation, normalized }: UnparsedSchema): unknown {
    const needed = dependencies.map((dependency) => ({ ...dependency, text: this.#numberOf(dependency.text) }))
    return [type, this.#numberOf(text), references, needed, validation, normalized]
  }

  #numberOf(text: string): number {
    const known = this.#texts.get(text) ?? this.#texts.size
    this.#texts.set(text, known)
    return known
  }
}

/**
 * A schema that may be too large to be read here: then it knows of itself what the workerResults say. Two schemas are compared
 * here only when both are small.
 */
export class OffloadableSchema implements ParsedSchema {
  readonly #schema: UnparsedSchema
  readonly #here: ParsedSchema | undefined
  readonly #workerResults: WorkerResults

  /** `here`: the parsed schema, when it is small. */
  constructor(schema: UnparsedSchema, here: ParsedSchema | undefined, workerResults: WorkerResults) {
    this.#schema = schema
    this.#here = here
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
    return this.#here?.hasPatterns ?? true
  }

  normalized(): OffloadableSchema {
    const here = this.#here && usable(this.#here, (schema) => schema.normalized())
    return new OffloadableSchema({ ...this.#schema, normalized: true }, here, this.#workerResults)
  }

  isEquivalent(other: OffloadableSchema): boolean {
    const [here, there] = [this.#here, other.#here]
    if (here && there) return usable(here, (schema) => schema.isEquivalent(there))
    // Equivalent texts differ in the order of what they hold: a job is worth it only where they are equally long.
    if (this.canonical.length !== other.canonical.length) return false
    return resultOf(this.#workerResults.get({ op: 'equivalent', schema: this.#schema, other: other.#schema }))
  }

  formatted(format: string): string | undefined {
    if (this.#here) return usable(this.#here, (schema) => schema.formatted(format))
    return resultOf(this.#workerResults.get({ op: 'format', schema: this.#schema, format }))
  }

  tags(): readonly SchemaTags[] {
    const here = this.#here
    if (here && isTaggedInProcess(this.#schema))
      return this.#workerResults.timed('tags', this.type, () => usable(here, (schema) => schema.tags()))
    return resultOf(this.#workerResults.get({ op: 'tags', schema: this.#schema }))
  }

  tagged(change: TagChange): string {
    const here = this.#here
    if (here && isTaggedInProcess(this.#schema)) {
      return this.#workerResults.timed('tag', this.type, () => usable(here, (schema) => schema.tagged(change)))
    }
    return resultOf(this.#workerResults.get({ op: 'tag', schema: this.#schema, change }))
  }

  incompatibilities(writer: OffloadableSchema, options: CompareOptions): readonly Incompatibility[] {
    const [reader, other] = [this.#here, writer.#here]
    if (reader && other && isComparedInProcess(this.#schema, reader) && isComparedInProcess(writer.#schema, other)) {
      return this.#workerResults.timed('compare', this.type, () =>
        usable(reader, (schema) => schema.incompatibilities(other, options)),
      )
    }
    return resultOf(this.#workerResults.get({ op: 'compare', reader: this.#schema, writer: writer.#schema, options }))
  }

  #read(): SchemaSummary {
    return this.#here ?? resultOf(this.#workerResults.get({ op: 'read', schema: this.#schema }))
  }
}

/** What is stored is read loosely: it may turn out to be wrong only when it is used. */
function usable<Result>(schema: ParsedSchema, use: (schema: ParsedSchema) => Result): Result {
  try {
    return use(schema)
  } catch (error) {
    throw unusable(schemaErrorMessage(error))
  }
}

function typeOf(job: SchemaJob): FormatType {
  return job.op === 'compare' ? job.reader.type : job.schema.type
}

function resultOf<Op extends SchemaJob['op']>(outcome: WorkerJobOutcome<Op>): ResultOf<Op> {
  if ('wrong' in outcome) throw unusable(outcome.wrong)
  return outcome.result
}

function unusable(details: string): Error {
  return invalidSchema(`Invalid schema, details: ${details}`)
}
