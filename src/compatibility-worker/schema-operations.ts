import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ParsedSchema } from '../formats/format.ts'
import { areComparedInProcess, charactersOf, isParsedInProcess } from './in-process-limits.ts'
import { OffloadableSchema } from './offloadable-schema.ts'
import { resultOf, SchemaJobs, type SchemaJobsOptions } from './schema-jobs.ts'
import {
  type ComparisonRules,
  type Conflict,
  conflictBetween,
  isEquivalent,
  type ResultOf,
  type SchemaJob,
  type UnparsedSchema,
  type WorkerJobOutcome,
} from './worker-job.ts'

/** An earlier version of a subject. */
export type EarlierVersion = {
  readonly schema: UnparsedSchema
  /** Parses it, for example from a cache. Rejects if the schema is invalid. */
  readonly parse: () => Promise<OffloadableSchema>
}

export type FoundConflict<Version> = { readonly version: Version; readonly found: Conflict }

/** Work on many schemas in this process gives way to other requests after this time. */
const TURN_MS = 10
/** Limit for the versions that are sent to the worker at once, in characters. */
const JOB_CHARACTERS_MAX = 1_000_000

/**
 * Parses and compares schemas: small ones in this process, others in the compatibility worker. Methods reject with a
 * `SchemaError`, and with a `CompatibilityWorkerBusyError`.
 */
export class SchemaOperations {
  readonly jobs: SchemaJobs

  constructor(options: SchemaJobsOptions) {
    this.jobs = new SchemaJobs(options)
  }

  /** Calls `parse` if the schema is small. Throws the error of `parse`. */
  async parse(schema: UnparsedSchema, parse: () => ParsedSchema): Promise<OffloadableSchema> {
    if (isParsedInProcess(schema)) return new OffloadableSchema(schema, parse(), this.jobs)
    return new OffloadableSchema(schema, await this.jobs.run<'read'>({ op: 'read', schema }), this.jobs)
  }

  /**
   * Returns the first of the versions that a look-up of the schema finds. `isInlined`: the schema contains the schemas that
   * the version references.
   */
  async findEquivalent<Version extends EarlierVersion & { readonly isInlined: boolean }>(
    schema: OffloadableSchema,
    versions: readonly Version[],
  ): Promise<Version | undefined> {
    const isSmall = ({ schema: stored }: Version) => schema.parsed !== undefined && isParsedInProcess(stored)
    const found = await this.#findInProcess(schema, versions.filter(isSmall))
    const before = found ? versions.slice(0, versions.indexOf(found)) : versions
    const large = before.filter((version) => !isSmall(version))
    const jobOf = (part: readonly Version[]) => {
      const stored = part.map((version) => ({ ...version.schema, isInlined: version.isInlined }))
      return { op: 'equivalent', schema: schema.unparsed, versions: stored } as const
    }
    for await (const { version } of this.#searchInWorker(large, jobOf)) return version
    return found
  }

  /**
   * Compares the schema with each version, in this order, and yields the conflicts. The next conflict is searched when it is
   * requested.
   */
  async *conflicts<Version extends EarlierVersion>(
    schema: OffloadableSchema,
    versions: readonly Version[],
    rules: ComparisonRules,
  ): AsyncGenerator<FoundConflict<Version>> {
    const jobOf = (part: readonly Version[]) =>
      ({ op: 'compare', schema: schema.unparsed, versions: part.map((version) => version.schema), rules }) as const
    const parsed = await this.#parseCompared(schema, versions)
    if (parsed) yield* this.#compareInProcess(schema, versions, parsed, rules)
    else yield* this.#searchInWorker(versions, jobOf)
  }

  async #findInProcess<Version extends EarlierVersion & { readonly isInlined: boolean }>(
    schema: OffloadableSchema,
    versions: readonly Version[],
  ): Promise<Version | undefined> {
    let turnMs = this.jobs.nowMs()
    for (const version of versions) {
      if (this.jobs.nowMs() - turnMs >= TURN_MS) {
        await nextTurn()
        turnMs = this.jobs.nowMs()
      }
      const { parsed } = await version.parse()
      if (parsed && schema.use((own) => isEquivalent(own, parsed, version.isInlined))) return version
    }
    return undefined
  }

  /** The versions, parsed as far as possible; undefined if the worker has to compare them. */
  async #parseCompared(
    { parsed: own, unparsed, type }: OffloadableSchema,
    versions: readonly EarlierVersion[],
  ): Promise<readonly (ParsedSchema | undefined)[] | undefined> {
    const stored = versions.map(({ schema }) => schema)
    if (!own || own.hasPatterns || !areComparedInProcess(unparsed, stored)) return undefined
    const parsed = await Promise.all(
      versions.map(async ({ schema, parse }) => {
        if (schema.type !== type) return undefined
        // The conflict is `unreadable`, and the caller decides about it.
        return (await parse().catch(() => undefined))?.parsed
      }),
    )
    return parsed.some((one) => one?.hasPatterns) ? undefined : parsed
  }

  *#compareInProcess<Version extends EarlierVersion>(
    schema: OffloadableSchema,
    versions: readonly Version[],
    parsed: readonly (ParsedSchema | undefined)[],
    rules: ComparisonRules,
  ): Generator<FoundConflict<Version>> {
    for (const [at, version] of versions.entries()) {
      const earlier = parsed[at]
      const compare = () => earlier && schema.use((own) => conflictBetween(own, earlier, rules))
      const kind = version.schema.type === schema.type ? 'unreadable' : 'type'
      const found = earlier ? this.jobs.timed('compare', schema.type, compare) : { kind }
      if (found) yield { version, found } as FoundConflict<Version>
    }
  }

  /** Yields the versions for which a job has found something. */
  async *#searchInWorker<Version extends EarlierVersion, Op extends 'equivalent' | 'compare'>(
    versions: readonly Version[],
    jobOf: (part: readonly Version[]) => SchemaJob & { readonly op: Op },
  ): AsyncGenerator<{ readonly version: Version; readonly found: NonNullable<ResultOf<Op>['found']> }> {
    let isAlone = false
    for (let rest = versions; rest.length > 0; ) {
      const part: readonly Version[] = isAlone ? rest.slice(0, 1) : firstPartOf(rest)
      const outcome: WorkerJobOutcome<Op> = await this.jobs.outcomeOf<Op>(jobOf(part))
      // A version must not be rejected because of the memory that others need.
      isAlone = 'isLimit' in outcome && part.length > 1
      if (isAlone) continue
      const { compared, found } = resultOf<Op>(outcome)
      if (found !== undefined) yield { version: part[compared - 1]!, found }
      rest = rest.slice(compared)
    }
  }
}

/** The versions for one job: at least one, and not more than the limit of characters. */
function firstPartOf<Version extends EarlierVersion>(versions: readonly Version[]): readonly Version[] {
  let characters = 0
  const end = versions.findIndex(({ schema }) => {
    characters += charactersOf(schema)
    return characters > JOB_CHARACTERS_MAX
  })
  return end < 0 ? versions : versions.slice(0, Math.max(1, end))
}
