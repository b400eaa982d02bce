import { z } from 'zod'
import type { SchemaType } from '../../formats/format.ts'
import { invalidVersion, RegistryError } from '../failure.ts'
import type { SentSchema, VersionSelector } from '../lookup.ts'
import { metadataSpec } from '../metadata.ts'
import { ruleSetSpec } from '../rule-set.ts'

// What stands in paths, queries and bodies, read as the original reads it.

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/** Java's boolean: `true` in any case; anything else is false. */
export function flag(query: Query, name: string): boolean {
  return text(query, name)?.toLowerCase() === 'true'
}

/** The first value of a parameter. */
export function text(query: Query, name: string): string | undefined {
  const value = query[name]
  return typeof value === 'object' ? value[0] : value
}

/** All values of a repeated parameter. */
export function texts(query: Query, name: string): readonly string[] {
  const value = query[name]
  return value === undefined ? [] : typeof value === 'object' ? value : [value]
}

export type Limits = { readonly default: number; readonly max: number }

/** `offset` and `limit` of a list. A limit above the maximum falls back to the default one. */
export function page<Item>(items: readonly Item[], query: Query, limits: Limits): readonly Item[] {
  const offset = Math.max(0, integer(query, 'offset') ?? 0)
  const asked = integer(query, 'limit') ?? -1
  const limit = asked < 0 || asked > limits.max ? limits.default : asked
  return items.slice(offset, offset + limit)
}

function integer(query: Query, name: string): number | undefined {
  const value = text(query, name)
  if (value === undefined) return undefined
  if (!/^[-+]?\d{1,10}$/.test(value)) throw new RegistryError('no_such_resource', 'HTTP 404 Not Found')
  return Number(value)
}

const VERSION_MAX = 2 ** 31 - 1

/** `latest` in any case, `-1`, or a positive number. Throws `invalid_version`. */
export function parseVersion(raw: string): VersionSelector {
  const word = raw.trim()
  if (word.toLowerCase() === 'latest' || word === '-1') return 'latest'
  const version = /^\+?\d+$/.test(word) ? Number(word) : 0
  if (version < 1 || version > VERSION_MAX) throw invalidVersion(raw)
  return version
}

/** An id in a path; what is no number is no resource. */
export function parseId(raw: string): number {
  if (!/^[-+]?\d{1,10}$/.test(raw)) throw new RegistryError('no_such_resource', 'HTTP 404 Not Found')
  return Number(raw)
}

const referenceSpec = z.object({
  name: z.string(),
  subject: z.string(),
  version: z.number().int().min(-1).max(VERSION_MAX).nullish(),
})
const schemaSpec = z.object({
  version: z.number().int().max(VERSION_MAX).nullish(),
  id: z.number().int().max(VERSION_MAX).nullish(),
  schemaType: z.string().nullish(),
  references: z.array(referenceSpec).nullish(),
  metadata: metadataSpec.nullish(),
  ruleSet: ruleSetSpec.nullish(),
  schema: z.string().nullish(),
})

export type SchemaBody = { readonly schema: SentSchema; readonly id: number; readonly version: number }

/** The body of a registration, a lookup or a check. Throws `missing_body` or `invalid_body`. */
export function parseSchemaBody(body: unknown): SchemaBody {
  const { schema, schemaType, references, metadata, ruleSet, id, version } = parseBody(schemaSpec, body)
  return {
    schema: {
      // Whether there is such a format is for the registry to say.
      type: (schemaType || 'AVRO') as SchemaType,
      text: schema ?? '',
      references: (references ?? []).map(({ version: at, ...reference }) => ({ ...reference, version: at ?? -1 })),
      metadata: metadata ?? undefined,
      ruleSet: ruleSet ?? undefined,
    },
    id: id ?? -1,
    version: version ?? 0,
  }
}

/** Unknown members are ignored, as by the original. */
export function parseBody<Spec extends z.ZodType>(spec: Spec, body: unknown): z.infer<Spec> {
  if (body === undefined || body === null) throw new RegistryError('missing_body', 'The request body may not be empty')
  const parsed = spec.safeParse(body)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const where = issue && issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''
  throw new RegistryError('invalid_body', `Unrecognized request body: ${where}${issue?.message}`)
}
