import {
  type CompareOptions,
  type FormatType,
  type Incompatibility,
  type ParsedSchema,
  SchemaError,
  type SchemaSource,
} from '../../formats/format.ts'
import type { SchemaTags, TagChange } from '../../formats/tags.ts'
import type { Formats } from '../model/schema-types.ts'

/** A schema by all that it is read from. Plain data: it goes to another process. */
export type UnparsedSchema = SchemaSource & {
  readonly type: FormatType
  readonly validation: 'strict' | 'loose'
  readonly normalized: boolean
}

/** A job on its way to the process that does it. */
export type WorkerJobRequest = { readonly number: number; readonly job: WorkerJob; readonly limitMs: number }

/** Work whose time grows with what a client sent. */
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
/** What came of a job; `wrong`: why what was sent can't be used. */
export type WorkerJobOutcome<Op extends WorkerJob['op'] = WorkerJob['op']> =
  | { readonly result: ResultOf<Op> }
  | { readonly wrong: string }

/** Beside the schema's text, which goes on as one string, so much of a large body is taken. */
const REST_CHARACTERS_MAX = 256 * 1024

/** The languages that have to be loaded for a job. */
export function formatsOf(job: WorkerJob): readonly FormatType[] {
  if (job.op === 'body') return []
  if (job.op === 'compare') return [job.reader.type, job.writer.type]
  return job.op === 'equivalent' ? [job.schema.type, job.other.type] : [job.schema.type]
}

/** Does a job. Whatever the input, it answers; only what is no input's fault is thrown. */
export function runWorkerJob(job: WorkerJob, formats: Formats): WorkerJobOutcome {
  try {
    return { result: resultOf(job, formats) }
  } catch (error) {
    return { wrong: schemaErrorMessage(error) }
  }
}

function resultOf(job: WorkerJob, formats: Formats): Results[WorkerJob['op']] {
  switch (job.op) {
    case 'body':
      return bodyOf(job.bytes)
    case 'read': {
      const { canonical, name, fields } = read(job.schema, formats)
      return { canonical, name, fields }
    }
    case 'format':
      return read(job.schema, formats).formatted(job.format)
    case 'tags':
      return read(job.schema, formats).tags()
    case 'tag':
      return read(job.schema, formats).tagged(job.change)
    case 'equivalent':
      return read(job.schema, formats).isEquivalent(read(job.other, formats))
    case 'compare':
      return read(job.reader, formats).incompatibilities(read(job.writer, formats), job.options)
  }
}

function read(schema: UnparsedSchema, formats: Formats): ParsedSchema {
  const parsed = formats.get(schema.type).parse(schema, { validation: schema.validation })
  return schema.normalized ? parsed.normalized() : parsed
}

/** A large body in the few pieces that are cheap to pass between processes. */
function bodyOf(bytes: Uint8Array): unknown {
  const body: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
  const { schema, ...rest } = Object(body) as { schema?: unknown }
  const text = typeof schema === 'string'
  if (JSON.stringify(text ? rest : body).length > REST_CHARACTERS_MAX) {
    throw new SchemaError(`all but the schema may be at most ${REST_CHARACTERS_MAX} characters`)
  }
  return body
}

/** Errors that an input can cause; a stack that is used up comes from deep nesting. */
export function schemaErrorMessage(error: unknown): string {
  if (error instanceof SchemaError || error instanceof SyntaxError) return error.message
  if (error instanceof RangeError) return 'nested too deeply'
  throw error
}
