import { BoundedMap, shared } from './bounded-map.ts'
import { type Endpoint, request } from './http.ts'

// What a schema registry takes and answers. Members that are absent on the wire are absent here.

export type SchemaType = 'AVRO' | 'JSON' | 'PROTOBUF'
export type SchemaReference = { readonly name: string; readonly subject: string; readonly version: number }
export type Metadata = {
  readonly tags?: Readonly<Record<string, readonly string[]>>
  readonly properties?: Readonly<Record<string, string>>
  readonly sensitive?: readonly string[]
}
export type Rule = Readonly<Record<string, unknown>> & { readonly name?: string }
export type RuleSet = {
  readonly migrationRules?: readonly Rule[]
  readonly domainRules?: readonly Rule[]
  readonly encodingRules?: readonly Rule[]
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

export const MODES = ['READWRITE', 'READONLY', 'READONLY_OVERRIDE', 'IMPORT', 'FORWARD'] as const
export type Mode = (typeof MODES)[number]

export type NewSchema = {
  readonly schema: string
  /** Absent: AVRO. */
  readonly schemaType?: SchemaType
  readonly references?: readonly SchemaReference[]
  readonly metadata?: Metadata
  readonly ruleSet?: RuleSet
  /** Both only where the registry's mode is IMPORT. */
  readonly id?: number
  readonly version?: number
}

/** A schema without its place: what an id stands for. */
export type SchemaById = Omit<NewSchema, 'id' | 'version'> & { readonly guid?: string }
/** A schema at its place. */
export type RegisteredSchema = NewSchema & {
  readonly subject: string
  readonly version: number
  readonly id: number
  readonly guid?: string
}
/** A registry of the 7.x line answers only `id`. */
export type Registered = { readonly id: number; readonly version?: number; readonly guid?: string }
export type CompatibilityVerdict = { readonly compatible: boolean; readonly messages: readonly string[] }

export type Config = {
  readonly compatibility?: CompatibilityLevel
  readonly normalize?: boolean
  readonly alias?: string
  readonly compatibilityGroup?: string
  readonly compatibilityPolicy?: string
  readonly validateFields?: boolean
  readonly defaultMetadata?: Metadata
  readonly overrideMetadata?: Metadata
  readonly defaultRuleSet?: RuleSet
  readonly overrideRuleSet?: RuleSet
}

/** Error codes of the wire that callers tell apart. */
export const REGISTRY_ERROR = {
  subjectNotFound: 40401,
  versionNotFound: 40402,
  schemaNotFound: 40403,
  subjectSoftDeleted: 40404,
  subjectNotSoftDeleted: 40405,
  configNotFound: 40408,
  modeNotFound: 40409,
  incompatible: 40901,
  invalidSchema: 42201,
  operationNotPermitted: 42205,
  referenceExists: 42206,
} as const

/** Every call rejects with a `RequestError`. Without a subject, config and mode are the global ones. */
export interface RegistryClient {
  register(subject: string, schema: NewSchema, options?: { readonly normalize?: boolean }): Promise<Registered>
  /** Where this content is registered already; rejects with `subjectNotFound` or `schemaNotFound`. */
  lookup(
    subject: string,
    schema: NewSchema,
    options?: { readonly normalize?: boolean; readonly deleted?: boolean },
  ): Promise<RegisteredSchema>
  /** Remembered: an id never changes its meaning. `subject` tells whose context the id is of. */
  byId(id: number, subject?: string): Promise<SchemaById>
  latest(subject: string): Promise<RegisteredSchema>
  version(
    subject: string,
    version: number | 'latest',
    options?: { readonly deleted?: boolean },
  ): Promise<RegisteredSchema>
  versions(subject: string, options?: { readonly deleted?: boolean }): Promise<readonly number[]>
  subjects(options?: { readonly prefix?: string; readonly deleted?: boolean }): Promise<readonly string[]>
  /** `.` is the default one. */
  contexts(): Promise<readonly string[]>
  /** Names that stand for a subject with live versions. */
  aliases(): Promise<readonly string[]>
  /** Without a version: against those that the subject's level asks for. */
  checkCompatibility(
    subject: string,
    schema: NewSchema,
    options?: { readonly version?: number | 'latest'; readonly normalize?: boolean },
  ): Promise<CompatibilityVerdict>
  /** `effective` falls back to what is in force; else rejects with `configNotFound` when the subject has none. */
  config(subject?: string, options?: { readonly effective?: boolean }): Promise<Config>
  putConfig(config: Config, subject?: string): Promise<void>
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
/** No registry's own limit is lower. */
const PAGE_SIZE = 1_000

export function createRegistryClient(endpoint: Endpoint): RegistryClient {
  const byId = new BoundedMap<string, Promise<SchemaById>>(IDS_MAX)
  const get = (path: string, query: Query = {}) => request(endpoint, { method: 'GET', path, query })
  const remove = (path: string, query: Query = {}) => request(endpoint, { method: 'DELETE', path, query })
  const post = (path: string, body: unknown, query: Query = {}) =>
    request(endpoint, { method: 'POST', path, body, query, contentType: MEDIA_TYPE })
  const put = (path: string, body: unknown, query: Query = {}) =>
    request(endpoint, { method: 'PUT', path, body, query, contentType: MEDIA_TYPE })

  return {
    register: async (subject, schema, { normalize } = {}) =>
      (await post(`${subjectPath(subject)}/versions`, schema, { normalize })) as Registered,
    lookup: async (subject, schema, options = {}) =>
      (await post(subjectPath(subject), schema, options)) as RegisteredSchema,
    byId: (id, subject) =>
      shared(byId, `${id} ${subject ?? ''}`, async () => (await get(`/schemas/ids/${id}`, { subject })) as SchemaById),
    latest: async (subject) => (await get(`${subjectPath(subject)}/versions/latest`)) as RegisteredSchema,
    version: async (subject, version, options = {}) =>
      (await get(`${subjectPath(subject)}/versions/${version}`, options)) as RegisteredSchema,
    versions: async (subject, options = {}) =>
      (await get(`${subjectPath(subject)}/versions`, options)) as readonly number[],
    subjects: async ({ prefix, deleted } = {}) =>
      (await get('/subjects', { subjectPrefix: prefix, deleted })) as readonly string[],
    contexts: async () => (await get('/contexts')) as readonly string[],
    aliases: () => listAliases(get),
    checkCompatibility: async (subject, schema, { version, normalize } = {}) => {
      const path = `/compatibility${subjectPath(subject)}/versions${version === undefined ? '' : `/${version}`}`
      const answer = (await post(path, schema, { verbose: true, normalize })) as WireVerdict
      return { compatible: answer.is_compatible, messages: answer.messages ?? [] }
    },
    config: async (subject, { effective } = {}) => {
      const { compatibilityLevel, ...rest } = (await get(ofSubject('/config', subject), {
        defaultToGlobal: effective,
      })) as WireConfig
      return compatibilityLevel === undefined ? rest : { ...rest, compatibility: compatibilityLevel }
    },
    putConfig: async (config, subject) => void (await put(ofSubject('/config', subject), config)),
    deleteConfig: async (subject) => void (await remove(ofSubject('/config', subject))),
    mode: async (subject, { effective } = {}) =>
      ((await get(ofSubject('/mode', subject), { defaultToGlobal: effective })) as { readonly mode: Mode }).mode,
    putMode: async (mode, subject, { force } = {}) =>
      void (await put(ofSubject('/mode', subject), { mode }, { force })),
    deleteMode: async (subject) => void (await remove(ofSubject('/mode', subject))),
    deleteSubject: async (subject, options = {}) => (await remove(subjectPath(subject), options)) as readonly number[],
    deleteVersion: async (subject, version, options = {}) =>
      (await remove(`${subjectPath(subject)}/versions/${version}`, options)) as number,
  }
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>
type WithAliases = { readonly subject: string; readonly aliases?: readonly string[] }
type WireVerdict = { readonly is_compatible: boolean; readonly messages?: readonly string[] }
type WireConfig = Omit<Config, 'compatibility'> & { readonly compatibilityLevel?: CompatibilityLevel }

/** Page by page. A registry that knows no pages gives the first one again. */
async function listAliases(get: (path: string, query: Query) => Promise<unknown>): Promise<readonly string[]> {
  const query = { subjectPrefix: ':*:', latestOnly: true, aliases: true, limit: PAGE_SIZE }
  const listed = new Map<string, readonly string[]>()
  for (let offset = 0; ; offset += PAGE_SIZE) {
    const before = listed.size
    const page = (await get('/schemas', { ...query, offset })) as readonly WithAliases[]
    for (const { subject, aliases = [] } of page) listed.set(subject, aliases)
    if (page.length < PAGE_SIZE || listed.size === before) return [...new Set([...listed.values()].flat())]
  }
}

function subjectPath(subject: string): string {
  return `/subjects/${encodeURIComponent(subject)}`
}

function ofSubject(resource: '/config' | '/mode', subject: string | undefined): string {
  return subject === undefined ? resource : `${resource}/${encodeURIComponent(subject)}`
}
