import type {
  CompareOptions,
  Format,
  FormatType,
  Incompatibility,
  ParsedSchema,
  SchemaSource,
} from '../formats/format.ts'
import { SchemaError } from '../formats/schema-error.ts'
import type { SchemaTags, TagChange } from '../formats/tags.ts'

/** The input for parsing a schema. It is plain data that can be sent to another process. */
export type UnparsedSchema = SchemaSource & {
  readonly type: FormatType
  readonly validation: 'strict' | 'loose'
  readonly normalized: boolean
}

/** The message that sends jobs to the worker process. `limitMs` is that of one job. */
export type WorkerJobRequest = {
  readonly number: number
  readonly jobs: readonly WorkerJob[]
  readonly limitMs: number
}
/** Its response: the outcomes of at least the first job, and of as many others as there was time for. */
export type WorkerJobResponse = { readonly number: number; readonly outcomes: readonly WorkerJobOutcome[] }

/** Work whose duration depends on the input of a client. */
export type WorkerJob =
  | { readonly op: 'body'; readonly bytes: Uint8Array }
  | { readonly op: 'read'; readonly schema: UnparsedSchema }
  | { readonly op: 'format'; readonly schema: UnparsedSchema; readonly format: string }
  | { readonly op: 'tags'; readonly schema: UnparsedSchema }
  | { readonly op: 'tag'; readonly schema: UnparsedSchema; readonly change: TagChange }
  | { readonly op: 'equivalent'; readonly schema: UnparsedSchema; readonly other: UnparsedSchema }
  | {
      readonly op: 'compare'
      readonly reader: UnparsedSchema
      readonly writer: UnparsedSchema
      readonly options: CompareOptions
    }

export type SchemaSummary = Pick<ParsedSchema, 'canonical' | 'name' | 'fields'>

type Results = {
  readonly body: unknown
  readonly read: SchemaSummary
  readonly format: string | undefined
  readonly tags: readonly SchemaTags[]
  readonly tag: string
  readonly equivalent: boolean
  readonly compare: readonly Incompatibility[]
}
export type ResultOf<Op extends WorkerJob['op']> = Results[Op]
/** The result of a job. `invalid` is the reason why the input is invalid. */
export type WorkerJobOutcome<Op extends WorkerJob['op'] = WorkerJob['op']> =
  | { readonly result: ResultOf<Op> }
  | { readonly invalid: string }

/**
 * Limit for a large body without the text of its schema, in characters. The text is passed between processes as one
 * string.
 */
const REST_CHARACTERS_MAX = 256 * 1024

/** The schema types whose code has to be loaded for a job. */
export function formatsOf(job: WorkerJob): readonly FormatType[] {
  if (job.op === 'body') return []
  if (job.op === 'compare') return [job.reader.type, job.writer.type]
  return job.op === 'equivalent' ? [job.schema.type, job.other.type] : [job.schema.type]
}

/** The code of the schema types that a job needs. */
export type LoadedFormats = ReadonlyMap<FormatType, Format>

/** Runs jobs. Jobs of one request often share a schema, which is parsed once. */
export class JobRunner {
  readonly #formats: LoadedFormats
  readonly #parsed = new Map<UnparsedSchema, ParsedSchema>()

  constructor(formats: LoadedFormats) {
    this.#formats = formats
  }

  /** Runs a job. Invalid input gives `invalid`; errors that no input can cause are thrown. */
  run(job: WorkerJob): WorkerJobOutcome {
    try {
      return { result: this.#resultOf(job) }
    } catch (error) {
      return { invalid: schemaErrorMessage(error) }
    }
  }

  #resultOf(job: WorkerJob): Results[WorkerJob['op']] {
    switch (job.op) {
      case 'body':
        return bodyOf(job.bytes)
      case 'read': {
        const { canonical, name, fields } = this.#parse(job.schema)
        return { canonical, name, fields }
      }
      case 'format':
        return this.#parse(job.schema).formatted(job.format)
      case 'tags':
        return this.#parse(job.schema).tags()
      case 'tag':
        return this.#parse(job.schema).tagged(job.change)
      case 'equivalent':
        return this.#parse(job.schema).isEquivalent(this.#parse(job.other))
      case 'compare':
        return this.#parse(job.reader).incompatibilities(this.#parse(job.writer), job.options)
    }
  }

  #parse(schema: UnparsedSchema): ParsedSchema {
    const format = this.#formats.get(schema.type)
    if (!format) throw new Error(`the format ${schema.type} is not loaded`)
    const loaded = this.#parsed.get(schema) ?? format.parse(schema, { validation: schema.validation })
    this.#parsed.set(schema, loaded)
    return schema.normalized ? loaded.normalized() : loaded
  }
}

/**
 * Parses a large request body. Throws a `SchemaError` if it is too large without the schema's text, because objects
 * with many members are expensive to pass between processes.
 */
function bodyOf(bytes: Uint8Array): unknown {
  const body: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
  const { schema, ...rest } = Object(body) as { schema?: unknown }
  const text = typeof schema === 'string'
  if (JSON.stringify(text ? rest : body).length > REST_CHARACTERS_MAX) {
    throw new SchemaError(`the request body without the schema has more than ${REST_CHARACTERS_MAX} characters`)
  }
  return body
}

/** The message of an error that invalid input can cause; a stack overflow means deep nesting. Rethrows other errors. */
export function schemaErrorMessage(error: unknown): string {
  if (error instanceof SchemaError || error instanceof SyntaxError) return error.message
  if (error instanceof RangeError) return 'nested too deeply'
  throw error
}
