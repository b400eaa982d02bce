import {
  type CompareOptions,
  type Incompatibility,
  type ParsedSchema,
  SchemaError,
  type SchemaSource,
  type SchemaType,
} from '../../formats/format.ts'
import type { SchemaTags, TagChange } from '../../formats/tags.ts'
import type { Formats } from '../model/schema-types.ts'

/** A schema by all that it is read from. Plain data: it goes to another process. */
export type SchemaToRead = SchemaSource & {
  readonly type: SchemaType
  readonly validation: 'strict' | 'loose'
  readonly normalized: boolean
}

/** A job on its way to the process that does it. */
export type JobRequest = { readonly number: number; readonly job: Job; readonly limitMs: number }

/** Work whose time grows with what a client sent. */
export type Job =
  | { readonly op: 'body'; readonly bytes: Uint8Array }
  | { readonly op: 'read'; readonly schema: SchemaToRead }
  | { readonly op: 'format'; readonly schema: SchemaToRead; readonly format: string }
  | { readonly op: 'tags'; readonly schema: SchemaToRead }
  | { readonly op: 'tag'; readonly schema: SchemaToRead; readonly change: TagChange }
  | { readonly op: 'equivalent'; readonly schema: SchemaToRead; readonly other: SchemaToRead }
  | {
      readonly op: 'compare'
      readonly reader: SchemaToRead
      readonly writer: SchemaToRead
      readonly options: CompareOptions
    }

export type ReadSchema = Pick<ParsedSchema, 'canonical' | 'name' | 'fields'>

type Results = {
  readonly body: unknown
  readonly read: ReadSchema
  readonly format: string | undefined
  readonly tags: readonly SchemaTags[]
  readonly tag: string
  readonly equivalent: boolean
  readonly compare: readonly Incompatibility[]
}
export type ResultOf<Op extends Job['op']> = Results[Op]
/** What came of a job; `wrong`: why what was sent can't be used. */
export type Outcome<Op extends Job['op'] = Job['op']> = { readonly result: ResultOf<Op> } | { readonly wrong: string }

/** Beside the schema's text, which goes on as one string, so much of a large body is taken. */
const REST_CHARACTERS_MAX = 256 * 1024

/** The languages that have to be loaded for a job. */
export function formatsOf(job: Job): readonly SchemaType[] {
  if (job.op === 'body') return []
  if (job.op === 'compare') return [job.reader.type, job.writer.type]
  return job.op === 'equivalent' ? [job.schema.type, job.other.type] : [job.schema.type]
}

/** Does a job. Whatever the input, it answers; only what is no input's fault is thrown. */
export function carryOut(job: Job, formats: Formats): Outcome {
  try {
    return { result: resultOf(job, formats) }
  } catch (error) {
    return { wrong: reasonOf(error) }
  }
}

function resultOf(job: Job, formats: Formats): Results[Job['op']] {
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

function read(schema: SchemaToRead, formats: Formats): ParsedSchema {
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
export function reasonOf(error: unknown): string {
  if (error instanceof SchemaError || error instanceof SyntaxError) return error.message
  if (error instanceof RangeError) return 'nested too deeply'
  throw error
}
