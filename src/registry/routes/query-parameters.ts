import { z } from 'zod'
import { DEK_ALGORITHMS } from '../../encryption/data-cipher.ts'
import { DEFAULT_ALGORITHM } from '../dek/key.ts'
import { LIFECYCLES } from '../model/association.ts'
import { invalidSchema, RegistryError } from '../model/registry-error.ts'
import type { VersionFilter } from '../queries/schema-search.ts'

// Parameters are parsed as by Confluent's registry: of a repeated one, the first value counts; unknown ones are ignored.

/** As Java's `Boolean.parseBoolean`: true for `true` in any case, otherwise false. A boolean is returned as it is. */
export function toFlag(value: unknown): boolean {
  return String(first(value)).toLowerCase() === 'true'
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value
}

function flag(description: string) {
  return z.preprocess(toFlag, z.boolean()).meta({ description, default: false })
}

const text = z.preprocess(first, z.string().optional())

/** All values of a repeated parameter. */
const texts = z.preprocess((value) => (value === undefined ? [] : [value].flat()), z.array(z.string()))

const integer = z.preprocess((value) => {
  const written = first(value)
  if (written === undefined) return undefined
  if (!/^[-+]?\d{1,10}$/.test(String(written))) throw noSuchResource()
  return Number(written)
}, z.number().int().optional())

/** One of these words. As in Confluent's registry, any other one is a 404. */
function word<const Words extends readonly string[]>(words: Words, absent?: string) {
  return text.transform((value): Words[number] | undefined => {
    if (value === undefined || value === absent) return undefined
    const found = words.find((known) => known === value)
    if (found === undefined) throw noSuchResource()
    return found
  })
}

function noSuchResource(): RegistryError {
  return new RegistryError('no_such_resource', 'HTTP 404 Not Found')
}

const format = text.transform((value) => {
  if (value?.toLowerCase() === 'logical') throw invalidSchema('format=logical is not supported')
  return value
})

/** The query parameters, by name. */
const PARAMETERS = {
  algorithm: word(DEK_ALGORITHMS, '')
    .transform((algorithm) => algorithm ?? DEFAULT_ALGORITHM)
    .meta({ description: `The algorithm of the DEK. Default: ${DEFAULT_ALGORITHM}.`, enum: DEK_ALGORITHMS }),
  aliases: flag('Includes the aliases of each subject.'),
  associationType: texts.describe('key or value. If it is repeated, any of the values matches.'),
  cascadeLifecycle: flag('Also deletes the subjects that STRONG associations own.'),
  context: text.describe('The context of subject names without a context.'),
  contextPrefix: text.describe('Lists only contexts with this prefix.'),
  defaultToGlobal: flag(
    'Returns the effective value, including inherited ones, instead of the value set for the subject.',
  ),
  deleted: flag('Includes soft-deleted versions and keys.'),
  deletedAsNegative: flag('Includes soft-deleted versions as negative numbers.'),
  deletedOnly: flag('Returns only soft-deleted versions.'),
  dryRun: flag('Checks the request without writing anything.'),
  fetchMaxId: flag('Includes the largest ID of the context.'),
  findTags: texts
    .transform((values) => values.flatMap((tags) => tags.split(',')))
    .describe('Includes the entities of the schema that have these tags; * matches every tag.'),
  force: flag('Skips the check of compatibility, or of existing subjects.'),
  format: format.describe('The format of the schema: resolved for AVRO; ignore_extensions or serialized for PROTOBUF.'),
  includeSchemas: flag('Includes the latest schema of each subject.'),
  key: texts.describe('Names of metadata properties. The value at the same position is the required value.'),
  latestOnly: flag('Returns only the latest version of each subject.'),
  lifecycle: word(LIFECYCLES).describe('The lifecycle of the association: STRONG or WEAK.'),
  limit: integer.meta({ description: 'The maximum number of results. -1 is the configured default.', default: -1 }),
  normalize: flag('Normalizes the schema before it is compared or stored.'),
  offset: integer.meta({ description: 'The number of results to skip.', default: 0 }),
  permanent: flag('Deletes permanently. Requires an earlier soft delete.'),
  recursive: flag('Also deletes the modes of the subjects in the scope.'),
  referenceFormat: text.describe('qualified: the subjects of references include their context.'),
  rewrap: flag('Encrypts an existing DEK again with the current key of its KEK.'),
  resourceType: text.describe('The type of the resource. Default: topic.'),
  ruleType: text.describe('Returns only schemas with a rule of this type.'),
  subject: text.describe('The subject, and thereby the context, in which the ID is looked up.'),
  subjectPrefix: text.describe('The prefix of the subjects. :*: is every context.'),
  testSharing: flag('Creates or updates a shared KEK only if its KMS can encrypt with it.'),
  value: texts.describe('Values of the metadata properties in `key`.'),
  verbose: flag('Includes the reasons for an incompatibility.'),
} as const

type Parameters = typeof PARAMETERS

/** The schema of a query with these parameters. */
export function query<Name extends keyof Parameters>(...names: readonly Name[]): z.ZodObject<Pick<Parameters, Name>> {
  return z.object(Object.fromEntries(names.map((name) => [name, PARAMETERS[name]])) as Pick<Parameters, Name>)
}

/** `GET /schemas` filters by several lifecycles; NONE matches subjects without associations. */
export const lifecycles = texts
  .transform((words) => words.map((one) => word([...LIFECYCLES, 'NONE']).parse(one)))
  .describe('The lifecycle of the association: STRONG, WEAK or NONE.')

/** `GET /dek-registry/v1/keks` filters by several prefixes. */
export const subjectPrefixes = texts.describe(
  'The prefix of the subjects. If it is repeated, any of the values matches.',
)

export type Page = { readonly offset?: number | undefined; readonly limit?: number | undefined }
export type PageLimits = { readonly default: number; readonly max: number }

/** Returns a page of the items. A limit of zero or less, or above the maximum, means the default. */
export function paginate<Item>(items: Iterable<Item>, { offset = 0, limit = -1 }: Page, limits: PageLimits): Item[] {
  const bounded = limit <= 0 || limit > limits.max ? limits.default : limit
  return Iterator.from(items).drop(Math.max(0, offset)).take(bounded).toArray()
}

/** Reads `deleted` and `deletedOnly`. `deletedOnly` takes precedence. */
export function versionFilter(query: { readonly deleted: boolean; readonly deletedOnly: boolean }): VersionFilter {
  if (query.deletedOnly) return 'deleted'
  return query.deleted ? 'all' : 'live'
}
