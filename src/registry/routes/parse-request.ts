import { z } from 'zod'
import type { FormatType } from '../../formats/format.ts'
import type { SchemaTags, TagChange } from '../../formats/tags.ts'
import type { TagsUpdate } from '../commands/change-tags.ts'
import type { Registration } from '../commands/register-schema.ts'
import { integerSpec, optionalBooleanSpec, optionalTextSpec, textSpec } from '../model/jackson-coercion.ts'
import { invalidSchema, invalidVersion, RegistryError } from '../model/registry-error.ts'
import { ruleSetSpec } from '../model/rule-set.ts'
import { metadataSpec } from '../model/schema-metadata.ts'
import type { VersionSelector } from '../queries/schema-lookup.ts'

// Parses paths, query parameters and bodies with the rules of Confluent's registry.

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/** As Java's `Boolean.parseBoolean`: true for `true` in any case, otherwise false. */
export function booleanParameter(query: Query, name: string): boolean {
  return stringParameter(query, name)?.toLowerCase() === 'true'
}

/** The first value of a parameter. */
export function stringParameter(query: Query, name: string): string | undefined {
  const value = query[name]
  return typeof value === 'object' ? value[0] : value
}

/** All values of a repeated parameter. */
export function stringParameters(query: Query, name: string): readonly string[] {
  const value = query[name]
  return value === undefined ? [] : typeof value === 'object' ? value : [value]
}

/** The `format` query parameter. Throws `invalid_schema` for `logical`, which is not supported. */
export function formatParameter(query: Query): string | undefined {
  const format = stringParameter(query, 'format')
  if (format?.toLowerCase() !== 'logical') return format
  throw invalidSchema('format=logical is not supported')
}

export type PageLimits = { readonly default: number; readonly max: number }

/** Applies the `offset` and `limit` of the query. A limit of zero or less, or above the maximum, means the default. */
export function paginate<Item>(items: Iterable<Item>, query: Query, limits: PageLimits): readonly Item[] {
  const offset = Math.max(0, integer(query, 'offset') ?? 0)
  const requested = integer(query, 'limit') ?? -1
  const limit = requested <= 0 || requested > limits.max ? limits.default : requested
  return Iterator.from(items).drop(offset).take(limit).toArray()
}

function integer(query: Query, name: string): number | undefined {
  const value = stringParameter(query, name)
  if (value === undefined) return undefined
  if (!/^[-+]?\d{1,10}$/.test(value)) throw new RegistryError('no_such_resource', 'HTTP 404 Not Found')
  return Number(value)
}

const VERSION_MAX = 2 ** 31 - 1

/** Parses a version: `latest` in any case, `-1`, or a positive 32-bit integer. Throws `invalid_version`. */
export function parseVersion(raw: string): VersionSelector {
  const word = raw.trim()
  if (word.toLowerCase() === 'latest' || word === '-1') return 'latest'
  const version = /^\+?\d+$/.test(word) ? Number(word) : 0
  if (version < 1 || version > VERSION_MAX) throw invalidVersion(raw)
  return version
}

/** Parses a schema ID in a path. Throws `no_such_resource` if it is not an integer. */
export function parseId(raw: string): number {
  if (!/^[-+]?\d{1,10}$/.test(raw)) throw new RegistryError('no_such_resource', 'HTTP 404 Not Found')
  return Number(raw)
}

const referenceSpec = z.object({
  name: textSpec,
  subject: textSpec,
  version: integerSpec({ min: -1 }),
})
const tagsSpec = z.array(
  z.object({
    schemaEntity: z.object({ entityPath: textSpec, entityType: z.enum(['sr_record', 'sr_field']) }),
    tags: z.array(textSpec),
  }),
)
export const schemaSpec = z.object({
  version: integerSpec(),
  id: integerSpec(),
  schemaType: optionalTextSpec,
  references: z.array(referenceSpec).nullish(),
  metadata: metadataSpec.nullish(),
  ruleSet: ruleSetSpec.nullish(),
  schema: optionalTextSpec,
  schemaTagsToAdd: tagsSpec.nullish(),
  schemaTagsToRemove: tagsSpec.nullish(),
  propagateSchemaTags: optionalBooleanSpec,
})

export type SchemaBody = Pick<Registration, 'schema' | 'id' | 'version' | 'tags' | 'propagateTags'>

/** Parses the body of a registration, a lookup or a compatibility check. Throws `missing_body` or `invalid_body`. */
export function parseSchemaBody(body: unknown): SchemaBody {
  const { schema, schemaType, references, metadata, ruleSet, id, version, ...more } = parseBody(schemaSpec, body)
  const tags = tagChange(more.schemaTagsToAdd, more.schemaTagsToRemove)
  return {
    schema: {
      // `Formats.load` rejects unknown types.
      type: (schemaType || 'AVRO') as FormatType,
      text: schema ?? '',
      references: (references ?? []).map(({ version: at, ...reference }) => ({ ...reference, version: at ?? -1 })),
      metadata: metadata ?? undefined,
      ruleSet: ruleSet ?? undefined,
    },
    id: id ?? -1,
    // Changing tags creates a new version, which gets the `confluent:version` property.
    version: version ?? (tags ? -1 : 0),
    tags,
    propagateTags: more.propagateSchemaTags ?? false,
  }
}

const tagsUpdateSpec = z.object({
  newVersion: integerSpec({ min: 0 }),
  tagsToAdd: tagsSpec.nullish(),
  tagsToRemove: tagsSpec.nullish(),
  metadata: metadataSpec.nullish(),
  ruleSet: ruleSetSpec.nullish(),
  rulesToMerge: ruleSetSpec.nullish(),
  rulesToRemove: z.array(textSpec).nullish(),
})

/** Parses the body of a request that changes tags. Throws `missing_body` or `invalid_body`. */
export function parseTagsUpdate(body: unknown): TagsUpdate {
  const { newVersion, tagsToAdd, tagsToRemove, ...more } = parseBody(tagsUpdateSpec, body)
  return {
    newVersion: newVersion ?? 0,
    tags: tagChange(tagsToAdd, tagsToRemove) ?? { add: [], remove: [] },
    metadata: more.metadata ?? undefined,
    ruleSet: more.ruleSet ?? undefined,
    rulesToMerge: more.rulesToMerge ?? undefined,
    rulesToRemove: more.rulesToRemove ?? undefined,
  }
}

type Tags = readonly SchemaTags[] | null | undefined

function tagChange(add: Tags, remove: Tags): TagChange | undefined {
  return add?.length || remove?.length ? { add: add ?? [], remove: remove ?? [] } : undefined
}

/** Ignores unknown members, as Confluent's registry does. Throws `missing_body` or `invalid_body`. */
export function parseBody<Spec extends z.ZodType>(spec: Spec, body: unknown): z.infer<Spec> {
  if (body === undefined || body === null) throw new RegistryError('missing_body', 'The request body may not be empty')
  const parsed = spec.safeParse(body)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const where = issue && issue.path.length > 0 ? `${issue.path.join('.')}: ` : ''
  throw new RegistryError('invalid_body', `Unrecognized request body: ${where}${issue?.message}`)
}
