import { jsonTextOf, parseJsonAsWritten } from '../common/written-json.ts'
import type { Format, FormatType, ParsedSchema, SchemaSource } from '../formats/format.ts'
import { SchemaError } from '../formats/schema-error.ts'
import type { SchemaTags, TagChange } from '../formats/tags.ts'
import { type CompatibilityRules, compareSchemas, type Incompatibilities } from '../formats/version-compatibility.ts'

/** The input for parsing a schema. It is plain data that can be sent to another process. */
export type UnparsedSchema = SchemaSource & {
  readonly type: FormatType
  readonly validation: 'strict' | 'loose'
  readonly normalized: boolean
}

/** The message that sends a job to the worker process, which interrupts it after `elapsedMsMax`. */
export type WorkerJobRequest = {
  readonly number: number
  readonly job: WorkerJob
  readonly cpuMsMax: number
  readonly elapsedMsMax: number
}
/** `interrupted` is undefined if the process did not have a processor for `cpuMsMax` of that time. */
export type WorkerJobResponse =
  | { readonly number: number; readonly outcome: WorkerJobOutcome }
  | { readonly number: number; readonly interrupted: WorkerJobOutcome | undefined }

/** Work whose duration depends on the input of a client. */
export type WorkerJob =
  | { readonly op: 'body'; readonly bytes: Uint8Array }
  | { readonly op: 'read'; readonly schema: UnparsedSchema }
  | { readonly op: 'format'; readonly schema: UnparsedSchema; readonly format: string }
  | { readonly op: 'tags'; readonly schema: UnparsedSchema }
  | { readonly op: 'tag'; readonly schema: UnparsedSchema; readonly change: TagChange }
  | { readonly op: 'equivalent'; readonly schema: UnparsedSchema; readonly versions: readonly LookedUpSchema[] }
  | {
      readonly op: 'compare'
      readonly schema: UnparsedSchema
      readonly versions: readonly UnparsedSchema[]
      readonly rules: ComparisonRules
    }

export type SchemaJob = Exclude<WorkerJob, { op: 'body' }>

/** A stored schema that can be equivalent. `isInlined`: the other schema contains the schemas that this one references. */
export type LookedUpSchema = UnparsedSchema & { readonly isInlined: boolean }

export type ComparisonRules = Pick<CompatibilityRules, 'level' | 'policy'>

export type SchemaSummary = Pick<ParsedSchema, 'canonical' | 'name' | 'fields'>

/** Why a version conflicts: another schema type, a text that cannot be parsed, or incompatibilities. */
export type Conflict =
  | { readonly kind: 'type' }
  | { readonly kind: 'unreadable' }
  /** `canonical` is the canonical text of the version. */
  | (Incompatibilities & { readonly kind: 'incompatible'; readonly canonical: string })

/**
 * `compared`: the number of versions for which there was time, at least one. The job ends with the first version for which
 * it has `found` something.
 */
export type Compared<Found> = { readonly compared: number; readonly found: Found | undefined }

type Results = {
  readonly body: unknown
  readonly read: SchemaSummary
  readonly format: string | undefined
  readonly tags: readonly SchemaTags[]
  readonly tag: string
  readonly equivalent: Compared<true>
  readonly compare: Compared<Conflict>
}
export type ResultOf<Op extends WorkerJob['op']> = Results[Op]
/** The result of a job. `invalid` is the reason why the input is invalid; `isLimit`: the job has exceeded a limit. */
export type WorkerJobOutcome<Op extends WorkerJob['op'] = WorkerJob['op']> =
  | { readonly result: ResultOf<Op> }
  | { readonly invalid: string; readonly isLimit?: true }

/**
 * Limit for a large body without the text of its schema, in characters. The text is passed between processes as one
 * string.
 */
const REST_CHARACTERS_MAX = 256 * 1024
/** A job with several versions ends after this time, so that other jobs do not wait long. */
const JOB_MS = 1_000

/** The schema types whose code has to be loaded for a job. */
export function formatsOf(job: WorkerJob): readonly FormatType[] {
  if (job.op === 'body') return []
  return [job.schema, ...('versions' in job ? job.versions : [])].map(({ type }) => type)
}

/** The code of the schema types that a job needs. */
export type LoadedFormats = ReadonlyMap<FormatType, Format>

/** How far a job with several versions is. */
export type Progress = { compared: number }

/** Runs a job. Invalid input gives `invalid`; errors that no input can cause are thrown. */
export function runJob(job: WorkerJob, formats: LoadedFormats, progress: Progress = { compared: 0 }): WorkerJobOutcome {
  try {
    return { result: resultOf(job, formats, progress) }
  } catch (error) {
    return { invalid: schemaErrorMessage(error) }
  }
}

function resultOf(job: WorkerJob, formats: LoadedFormats, progress: Progress): Results[WorkerJob['op']] {
  return job.op === 'body' ? bodyOf(job.bytes) : schemaResultOf(job, formats, progress)
}

function schemaResultOf(job: SchemaJob, formats: LoadedFormats, progress: Progress): Results[SchemaJob['op']] {
  const schema = parse(job.schema, formats)
  switch (job.op) {
    case 'read':
      return { canonical: schema.canonical, name: schema.name, fields: schema.fields }
    case 'format':
      return schema.formatted(job.format)
    case 'tags':
      return schema.tags()
    case 'tag':
      return schema.tagged(job.change)
    case 'equivalent':
      return findInTime(job.versions, progress, (version) => {
        return isEquivalent(schema, parse(version, formats), version.isInlined) ? true : undefined
      })
    case 'compare':
      return findInTime(job.versions, progress, (version) => findConflict(schema, version, job.rules, formats))
  }
}

/** Returns the first result of `test` that is not undefined, if it is found in time. */
function findInTime<Item, Found>(
  items: readonly Item[],
  progress: Progress,
  test: (item: Item) => Found | undefined,
): Compared<Found> {
  const endMs = performance.now() + JOB_MS
  for (const item of items) {
    const found = test(item)
    progress.compared += 1
    if (found !== undefined) return { ...progress, found }
    if (performance.now() >= endMs) break
  }
  return { ...progress, found: undefined }
}

/**
 * Whether a look-up of `schema` finds the stored one. `isInlined`: `schema` contains the schemas that the stored one references.
 */
export function isEquivalent(schema: ParsedSchema, stored: ParsedSchema, isInlined: boolean): boolean {
  const text = isInlined ? (stored.formatted('resolved') ?? stored.canonical) : stored.canonical
  return text === schema.canonical || schema.isEquivalent(stored)
}

function findConflict(
  schema: ParsedSchema,
  version: UnparsedSchema,
  rules: ComparisonRules,
  formats: LoadedFormats,
): Conflict | undefined {
  if (version.type !== schema.type) return { kind: 'type' }
  const earlier = parseStored(version, formats)
  return earlier ? conflictBetween(schema, earlier, rules) : { kind: 'unreadable' }
}

export function conflictBetween(
  schema: ParsedSchema,
  earlier: ParsedSchema,
  rules: ComparisonRules,
): Conflict | undefined {
  const found = compareSchemas(schema, earlier, rules)
  return found && { kind: 'incompatible', canonical: earlier.canonical, ...found }
}

function parseStored(schema: UnparsedSchema, formats: LoadedFormats): ParsedSchema | undefined {
  try {
    return parse(schema, formats)
  } catch (error) {
    schemaErrorMessage(error)
    return undefined
  }
}

function parse(schema: UnparsedSchema, formats: LoadedFormats): ParsedSchema {
  const format = formats.get(schema.type)
  if (!format) throw new Error(`the format ${schema.type} is not loaded`)
  const loaded = format.parse(schema, { validation: schema.validation })
  return schema.normalized ? loaded.normalized() : loaded
}

/**
 * Parses a large request body. Throws a `SchemaError` if it is too large without the schema's text, because objects
 * with many members are expensive to pass between processes.
 */
function bodyOf(bytes: Uint8Array): unknown {
  const body = parseJsonAsWritten(jsonTextOf(bytes))
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
