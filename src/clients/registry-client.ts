import { z } from 'zod'
import { BoundedMap, getOrFetch } from './bounded-map.ts'
import { type Endpoint, requestChecked, requestIfChanged, requestJson } from './http-client.ts'
import type { JsonTextLimits } from './limit-json-texts.ts'

// Wire types of the Schema Registry API. Members that are absent on the wire are absent here.

export type RegistrySchemaType = 'AVRO' | 'JSON' | 'PROTOBUF'
export type RegisteredReference = { readonly name: string; readonly subject: string; readonly version: number }
export type SchemaMetadata = {
  readonly tags?: Readonly<Record<string, readonly string[]>>
  readonly properties?: Readonly<Record<string, string>>
  readonly sensitive?: readonly string[]
}
export type SchemaRule = Readonly<Record<string, unknown>> & { readonly name?: string }
export type SchemaRuleSet = {
  readonly migrationRules?: readonly SchemaRule[]
  readonly domainRules?: readonly SchemaRule[]
  readonly encodingRules?: readonly SchemaRule[]
  readonly enableAt?: string
}

export const COMPATIBILITY_LEVELS = [
  'NONE',
  'BACKWARD',
  'BACKWARD_TRANSITIVE',
  'FORWARD',
  'FORWARD_TRANSITIVE',
  'FULL',
  'FULL_TRANSITIVE',
] as const
export type CompatibilityLevel = (typeof COMPATIBILITY_LEVELS)[number]

export const REGISTRY_MODES = ['READWRITE', 'READONLY', 'READONLY_OVERRIDE', 'IMPORT', 'FORWARD'] as const
export type Mode = (typeof REGISTRY_MODES)[number]

export type NewSchema = {
  readonly schema: string
  /** Default: AVRO. */
  readonly schemaType?: RegistrySchemaType
  readonly references?: readonly RegisteredReference[]
  readonly metadata?: SchemaMetadata
  readonly ruleSet?: SchemaRuleSet
  /** Permitted only in the mode IMPORT. */
  readonly id?: number
  readonly version?: number
}

/** A schema without subject and version: what an id identifies. */
export type SchemaById = Omit<NewSchema, 'id' | 'version'> & { readonly guid?: string }
/** A schema as a version of a subject. */
export type RegisteredSchema = NewSchema & {
  readonly subject: string
  readonly version: number
  readonly id: number
  readonly guid?: string
}
/** Registries of version 7 return `id` only. */
export type Registered = { readonly id: number; readonly version?: number; readonly guid?: string }
export type CompatibilityVerdict = { readonly compatible: boolean; readonly messages: readonly string[] }

/** The version of a schema in its subject, and its id. */
export type SchemaVersionId = { readonly version: number; readonly id: number }

/** A version that has a schema. */
export type SchemaUse = { readonly subject: string; readonly version: number }

export type SubjectConfig = {
  readonly compatibility?: CompatibilityLevel
  readonly normalize?: boolean
  readonly alias?: string
  readonly compatibilityGroup?: string
  readonly compatibilityPolicy?: string
  readonly validateFields?: boolean
  readonly defaultMetadata?: SchemaMetadata
  readonly overrideMetadata?: SchemaMetadata
  readonly defaultRuleSet?: SchemaRuleSet
  readonly overrideRuleSet?: SchemaRuleSet
}

/** Error codes that callers distinguish. */
export const REGISTRY_ERROR = {
  subjectNotFound: 40401,
  versionNotFound: 40402,
  schemaNotFound: 40403,
  subjectSoftDeleted: 40404,
  subjectNotSoftDeleted: 40405,
  versionSoftDeleted: 40406,
  configNotFound: 40408,
  modeNotFound: 40409,
  incompatible: 40901,
  invalidSchema: 42201,
  operationNotPermitted: 42205,
  referenceExists: 42206,
  schemaTooLarge: 42209,
} as const

/** Every call rejects with a `RequestError`. Without a subject, config and mode are the global ones. */
export interface RegistryClient {
  register(subject: string, schema: NewSchema, options?: { readonly normalize?: boolean }): Promise<Registered>
  /** The registered version with this content; rejects with `subjectNotFound` or `schemaNotFound`. */
  lookup(
    subject: string,
    schema: NewSchema,
    options?: { readonly normalize?: boolean; readonly deleted?: boolean },
  ): Promise<RegisteredSchema>
  /** Cached, because the schema of an id never changes. `subject` selects the context of the id. */
  byId(id: number, subject?: string): Promise<SchemaById>
  /** Cached as well. Not supported by registries before 8.0. */
  byGuid(guid: string): Promise<SchemaById>
  /** The versions that have the schema of an id. */
  versionsOfId(id: number): Promise<readonly SchemaUse[]>
  latest(subject: string): Promise<RegisteredSchema>
  version(
    subject: string,
    version: number | 'latest',
    options?: { readonly deleted?: boolean },
  ): Promise<RegisteredSchema>
  versions(subject: string, options?: { readonly deleted?: boolean }): Promise<readonly number[]>
  subjects(options?: { readonly prefix?: string; readonly deleted?: boolean }): Promise<readonly string[]>
  /** `.` is the default context. */
  contexts(): Promise<readonly string[]>
  /** The latest version of each subject, in all contexts. Uses ETags if the registry supports them. */
  latestVersions(): Promise<ReadonlyMap<string, SchemaVersionId>>
  /** Aliases of subjects with live versions. */
  aliases(): Promise<readonly string[]>
  /** Without `version`, checks the versions that the compatibility level of the subject requires. */
  checkCompatibility(
    subject: string,
    schema: NewSchema,
    options?: { readonly version?: number | 'latest'; readonly normalize?: boolean },
  ): Promise<CompatibilityVerdict>
  /** `effective` returns inherited values; otherwise rejects with `configNotFound` if the subject has no config. */
  config(subject?: string, options?: { readonly effective?: boolean }): Promise<SubjectConfig>
  putConfig(config: SubjectConfig, subject?: string): Promise<void>
  deleteConfig(subject?: string): Promise<void>
  mode(subject?: string, options?: { readonly effective?: boolean }): Promise<Mode>
  putMode(mode: Mode, subject?: string, options?: { readonly force?: boolean }): Promise<void>
  deleteMode(subject?: string): Promise<void>
  deleteSubject(subject: string, options?: { readonly permanent?: boolean }): Promise<readonly number[]>
  deleteVersion(
    subject: string,
    version: number | 'latest',
    options?: { readonly permanent?: boolean },
  ): Promise<number>
}

const MEDIA_TYPE = 'application/vnd.schemaregistry.v1+json'
const IDS_MAX = 10_000
/** At most the limit of any registry. */
const PAGE_SIZE = 1_000
/** A list contains the text of each schema, of which nothing is used. */
const LIST_LIMITS: JsonTextLimits = { bytesMax: { schema: 256 }, totalBytesMax: 0 }

// The validated members of each response; others are passed through.
const registered = z.looseObject({ id: z.number() })
const schema = z.looseObject({ schema: z.string() })
const registeredSchema = z.looseObject({
  subject: z.string(),
  version: z.number(),
  id: z.number(),
  schema: z.string(),
})
const subjectVersions = z.array(z.looseObject({ subject: z.string(), version: z.number() }))
const names = z.array(z.string())
const numbers = z.array(z.number())
const latests = z.array(
  z.looseObject({ subject: z.string(), version: z.number(), id: z.number(), aliases: names.optional() }),
)
const verdict = z.looseObject({ is_compatible: z.boolean(), messages: names.nullish() })
const anyConfig = z.looseObject({ compatibilityLevel: z.string().nullish() })
const anyMode = z.looseObject({ mode: z.string() })

export function createRegistryClient(endpoint: Endpoint): RegistryClient {
  const byId = new BoundedMap<string, Promise<SchemaById>>(IDS_MAX)
  const get = <Body>(shape: z.ZodType, path: string, query: Query = {}) =>
    requestChecked<Body>(endpoint, { method: 'GET', path, query }, shape)
  const post = <Body>(shape: z.ZodType, path: string, body: unknown, query: Query = {}) =>
    requestChecked<Body>(endpoint, { method: 'POST', path, body, query, contentType: MEDIA_TYPE }, shape)
  const remove = <Body>(shape: z.ZodType, path: string, query: Query = {}) =>
    requestChecked<Body>(endpoint, { method: 'DELETE', path, query }, shape)
  const put = async (path: string, body: unknown, query: Query = {}) =>
    void (await requestJson(endpoint, { method: 'PUT', path, body, query, contentType: MEDIA_TYPE }))

  /** Responses by query, without the schema texts. */
  const cached = new Map<string, { readonly etag: string; readonly page: readonly Latest[] }>()
  const listCached = async (query: Query): Promise<readonly Latest[]> => {
    const key = JSON.stringify(query)
    const known = cached.get(key)
    const call = { method: 'GET', path: '/schemas', query, ifNoneMatch: known?.etag, textLimits: LIST_LIMITS } as const
    const answer = await requestIfChanged<readonly Latest[]>(endpoint, call, latests)
    if (answer === undefined) return known?.page ?? []
    const page = answer.body.map(({ subject, version, id }) => ({ subject, version, id }))
    if (answer.etag !== undefined) cached.set(key, { etag: answer.etag, page })
    return page
  }

  return {
    register: (subject, sent, { normalize } = {}) =>
      post<Registered>(registered, `${subjectPath(subject)}/versions`, sent, { normalize }),
    lookup: (subject, sent, options = {}) =>
      post<RegisteredSchema>(registeredSchema, subjectPath(subject), sent, options),
    byId: (id, subject) =>
      getOrFetch(byId, `${id} ${subject ?? ''}`, () => get<SchemaById>(schema, `/schemas/ids/${id}`, { subject })),
    byGuid: (guid) =>
      getOrFetch(byId, guid, () => get<SchemaById>(schema, `/schemas/guids/${encodeURIComponent(guid)}`)),
    versionsOfId: (id) => get<readonly SchemaUse[]>(subjectVersions, `/schemas/ids/${id}/versions`),
    latest: (subject) => get<RegisteredSchema>(registeredSchema, `${subjectPath(subject)}/versions/latest`),
    version: (subject, version, options = {}) =>
      get<RegisteredSchema>(registeredSchema, `${subjectPath(subject)}/versions/${version}`, options),
    versions: (subject, options = {}) => get<readonly number[]>(numbers, `${subjectPath(subject)}/versions`, options),
    subjects: ({ prefix, deleted } = {}) =>
      get<readonly string[]>(names, '/subjects', { subjectPrefix: prefix, deleted }),
    contexts: () => get<readonly string[]>(names, '/contexts'),
    async latestVersions() {
      const latest = await listLatest(listCached)
      return new Map(latest.map(({ subject, version, id }) => [subject, { version, id }]))
    },
    async aliases() {
      const latest = await listLatest((query) => get<readonly Latest[]>(latests, '/schemas', query), { aliases: true })
      return [...new Set(latest.flatMap(({ aliases = [] }) => aliases))]
    },
    checkCompatibility: async (subject, sent, { version, normalize } = {}) => {
      const path = `/compatibility${subjectPath(subject)}/versions${version === undefined ? '' : `/${version}`}`
      const answer = await post<WireVerdict>(verdict, path, sent, { verbose: true, normalize })
      return { compatible: answer.is_compatible, messages: answer.messages ?? [] }
    },
    config: async (subject, { effective } = {}) => {
      const path = ofSubject('/config', subject)
      const { compatibilityLevel, ...rest } = await get<WireConfig>(anyConfig, path, { defaultToGlobal: effective })
      return compatibilityLevel === undefined ? rest : { ...rest, compatibility: compatibilityLevel }
    },
    putConfig: (config, subject) => put(ofSubject('/config', subject), config),
    deleteConfig: async (subject) => void (await remove(z.unknown(), ofSubject('/config', subject))),
    mode: async (subject, { effective } = {}) =>
      (await get<{ readonly mode: Mode }>(anyMode, ofSubject('/mode', subject), { defaultToGlobal: effective })).mode,
    putMode: (mode, subject, { force } = {}) => put(ofSubject('/mode', subject), { mode }, { force }),
    deleteMode: async (subject) => void (await remove(z.unknown(), ofSubject('/mode', subject))),
    deleteSubject: (subject, options = {}) => remove<readonly number[]>(numbers, subjectPath(subject), options),
    deleteVersion: (subject, version, options = {}) =>
      remove<number>(z.number(), `${subjectPath(subject)}/versions/${version}`, options),
  }
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>
type Latest = SchemaVersionId & { readonly subject: string; readonly aliases?: readonly string[] }
type WireVerdict = { readonly is_compatible: boolean; readonly messages?: readonly string[] }
type WireConfig = Omit<SubjectConfig, 'compatibility'> & { readonly compatibilityLevel?: CompatibilityLevel }

/** Reads all pages. A registry without paging returns the first page for every offset. */
async function listLatest(
  get: (query: Query) => Promise<readonly Latest[]>,
  more: Query = {},
): Promise<readonly Latest[]> {
  const query = { subjectPrefix: ':*:', latestOnly: true, ...more, limit: PAGE_SIZE }
  const listed = new Map<string, Latest>()
  for (let offset = 0; ; offset += PAGE_SIZE) {
    const before = listed.size
    const page = await get({ ...query, offset })
    for (const latest of page) listed.set(latest.subject, latest)
    if (page.length < PAGE_SIZE || listed.size === before) return [...listed.values()]
  }
}

function subjectPath(subject: string): string {
  return `/subjects/${encodeURIComponent(subject)}`
}

function ofSubject(resource: '/config' | '/mode', subject: string | undefined): string {
  return subject === undefined ? resource : `${resource}/${encodeURIComponent(subject)}`
}
