import { isDeepStrictEqual } from 'node:util'
import { RequestError, undefinedIfNotFound } from '../../clients/http-client.ts'
import {
  type Mode,
  type NewSchema,
  REGISTRY_ERROR,
  type RegisteredSchema,
  type RegistryClient,
  type SubjectConfig,
} from '../../clients/registry-client.ts'
import { contextOf, DEFAULT_CONTEXT, splitSubject } from '../../formats/qualified-subject.ts'
import type { RecordChange } from './runtime-change.ts'

/** The reads of a registry on which a simulation is based. */
export type RegistryReader = Pick<RegistryClient, 'lookup' | 'version' | 'versions' | 'subjects' | 'config' | 'mode'>

/** The name of the registry's own config and mode. */
const GLOBAL = ''
/** Where registries start to count the ids that a simulation assigns: above those of any registry. */
const FIRST_ID = 2 ** 31

/** A subject as the simulation changed it. */
type ChangedSubject = { isDeleted: boolean; readonly added: RegisteredSchema[] }

/**
 * A registry in memory on top of another one, which is only read. It stores what is written without a compatibility
 * check: reconcilers check before they write.
 */
export class RegistryOverlay {
  readonly #base: RegistryReader
  readonly #subjects = new Map<string, ChangedSubject>()
  /** Undefined: deleted in the simulation. */
  readonly #configs = new Map<string, SubjectConfig | undefined>()
  readonly #modes = new Map<string, Mode | undefined>()
  /** Responses of the base, which does not change during a simulation. */
  readonly #responses = new Map<string, Promise<unknown>>()
  #lastId = FIRST_ID

  constructor(base: RegistryReader) {
    this.#base = base
  }

  /** A client that passes its writes to `record`. */
  client(record: RecordChange): RegistryClient {
    const scopeOf = (subject: string | undefined) => (subject === undefined ? {} : { scope: subject })
    return {
      lookup: (subject, schema, options = {}) => this.#lookup(subject, schema, options),
      version: (subject, version, { deleted = false } = {}) => this.#version(subject, version, deleted),
      latest: (subject) => this.#version(subject, 'latest', false),
      versions: (subject, { deleted = false } = {}) => this.#requireVersions(subject, deleted),
      subjects: (options = {}) => this.#listSubjects(options),
      config: (subject, { effective = false } = {}) => this.#config(subject, effective),
      mode: (subject, { effective = false } = {}) => this.#mode(subject, effective),
      register: async (subject, schema) => {
        const registered = await this.#register(subject, schema)
        record({ do: 'register', subject, version: registered.version, schema })
        return registered
      },
      putConfig: async (config, subject) => {
        this.#configs.set(subject ?? GLOBAL, config)
        if (config.compatibility !== undefined) {
          record({ do: 'set-level', ...scopeOf(subject), level: config.compatibility })
        }
      },
      deleteConfig: async (subject) => {
        this.#configs.set(subject ?? GLOBAL, undefined)
        record({ do: 'delete-level', ...scopeOf(subject) })
      },
      putMode: async (mode, subject) => {
        this.#modes.set(subject ?? GLOBAL, mode)
        record({ do: 'set-mode', ...scopeOf(subject), mode })
      },
      deleteMode: async (subject) => {
        this.#modes.set(subject ?? GLOBAL, undefined)
        record({ do: 'delete-mode', ...scopeOf(subject) })
      },
      deleteSubject: async (subject, { permanent = false } = {}) => {
        const versions = permanent ? [] : await this.#requireVersions(subject, false)
        this.#subjects.set(subject, { isDeleted: true, added: [] })
        record({ do: 'delete-subject', subject, permanent })
        return versions
      },
      byId: notSimulated('byId'),
      byGuid: notSimulated('byGuid'),
      versionsOfId: notSimulated('versionsOfId'),
      contexts: notSimulated('contexts'),
      latestVersions: notSimulated('latestVersions'),
      aliases: notSimulated('aliases'),
      checkCompatibility: notSimulated('checkCompatibility'),
      deleteVersion: notSimulated('deleteVersion'),
    }
  }

  async #lookup(subject: string, schema: NewSchema, options: Parameters<RegistryReader['lookup']>[2]) {
    const changed = this.#subjects.get(subject)
    const added = changed?.added.findLast((version) => isSame(version, schema))
    if (added !== undefined) return added
    if ((await this.#versions(subject, options?.deleted === true)).length === 0) throw subjectNotFound(subject)
    // The base cannot resolve a reference to what exists in the simulation only, so none of its versions has one.
    const refersToAdded = (schema.references ?? []).some((reference) => this.#isAdded(reference))
    if (changed?.isDeleted || refersToAdded) throw schemaNotFound()
    try {
      return await this.#base.lookup(subject, schema, options)
    } catch (error) {
      const isUnknown = error instanceof RequestError && error.errorCode === REGISTRY_ERROR.subjectNotFound
      throw isUnknown ? schemaNotFound() : error
    }
  }

  #isAdded({ subject, version }: { readonly subject: string; readonly version: number }): boolean {
    return this.#subjects.get(subject)?.added.some((one) => one.version === version) === true
  }

  async #version(subject: string, version: number | 'latest', deleted: boolean): Promise<RegisteredSchema> {
    const { added = [], isDeleted = false } = this.#subjects.get(subject) ?? {}
    const number = version === 'latest' ? (await this.#versions(subject, deleted)).at(-1) : version
    const found = added.find((one) => one.version === number)
    if (found !== undefined) return found
    if (number === undefined) throw subjectNotFound(subject)
    if (isDeleted && !deleted) throw versionNotFound(number)
    return this.#once(`version ${deleted} ${number} ${subject}`, () => this.#base.version(subject, number, { deleted }))
  }

  async #requireVersions(subject: string, deleted: boolean): Promise<readonly number[]> {
    const versions = await this.#versions(subject, deleted)
    if (versions.length === 0) throw subjectNotFound(subject)
    return versions
  }

  /** Empty where the subject does not exist. */
  async #versions(subject: string, deleted: boolean): Promise<readonly number[]> {
    const { added = [], isDeleted = false } = this.#subjects.get(subject) ?? {}
    const existing = isDeleted && !deleted ? [] : await this.#baseVersions(subject, deleted)
    return [...new Set([...existing, ...added.map(({ version }) => version)])].sort((a, b) => a - b)
  }

  async #baseVersions(subject: string, deleted: boolean): Promise<readonly number[]> {
    const read = () => undefinedIfNotFound(this.#base.versions(subject, { deleted }))
    return (await this.#once(`versions ${deleted} ${subject}`, read)) ?? []
  }

  async #listSubjects(options: Parameters<RegistryReader['subjects']>[0] & object): Promise<readonly string[]> {
    const { prefix = '' } = options
    const isInPrefix = (name: string) => (prefix === '' ? contextOf(name) === DEFAULT_CONTEXT : name.startsWith(prefix))
    const existing = await this.#once(`subjects ${JSON.stringify(options)}`, () => this.#base.subjects(options))
    const kept = existing.filter((name) => this.#subjects.get(name)?.isDeleted !== true)
    const added = [...this.#subjects].filter(([name, one]) => one.added.length > 0 && isInPrefix(name))
    return [...new Set([...kept, ...added.map(([name]) => name)])]
  }

  async #register(subject: string, schema: NewSchema): Promise<RegisteredSchema> {
    const mode = await this.#mode(subject, true)
    const isImport = schema.id !== undefined && schema.version !== undefined
    if (mode.startsWith('READONLY') || (isImport && mode !== 'IMPORT')) {
      const { operationNotPermitted } = REGISTRY_ERROR
      throw new RequestError(422, operationNotPermitted, `Subject ${subject} is in mode ${mode}`)
    }
    const found = await this.#lookup(subject, schema, {}).catch(notFoundAsUndefined)
    if (found !== undefined) return found
    // A deleted version keeps its number.
    const last = (await this.#versions(subject, true)).at(-1) ?? 0
    this.#lastId += 1
    const registered = { ...schema, subject, version: schema.version ?? last + 1, id: schema.id ?? this.#lastId }
    const known = this.#subjects.get(subject) ?? { isDeleted: false, added: [] }
    known.added.push(registered)
    this.#subjects.set(subject, known)
    return registered
  }

  async #config(subject: string | undefined, effective: boolean): Promise<SubjectConfig> {
    const read = (name: string | undefined) =>
      this.#once(`config ${name}`, () => undefinedIfNotFound(this.#base.config(name)))
    const own = await this.#own(this.#configs, subject, read)
    if (!effective) return own ?? throwNotFound(REGISTRY_ERROR.configNotFound, `${subject} has no config of its own`)
    const inherited = await this.#inherited(this.#configs, subject, read)
    const isChanged = this.#changedScopes(this.#configs, subject)
    if (isChanged) return own === undefined ? (inherited ?? {}) : { ...inherited, ...own }
    return this.#once(`config effective ${subject}`, () => this.#base.config(subject, { effective }))
  }

  async #mode(subject: string | undefined, effective: boolean): Promise<Mode> {
    const read = (name: string | undefined) =>
      this.#once(`mode ${name}`, () => undefinedIfNotFound(this.#base.mode(name)))
    const own = await this.#own(this.#modes, subject, read)
    if (!effective) return own ?? throwNotFound(REGISTRY_ERROR.modeNotFound, `${subject} has no mode of its own`)
    if (!this.#changedScopes(this.#modes, subject)) {
      return this.#once(`mode effective ${subject}`, () => this.#base.mode(subject, { effective }))
    }
    return own ?? (await this.#inherited(this.#modes, subject, read)) ?? 'READWRITE'
  }

  /** Whether the simulation changed the settings of a subject or of a scope around it. */
  #changedScopes(settings: ReadonlyMap<string, unknown>, subject: string | undefined): boolean {
    return settings.size > 0 && [subject ?? GLOBAL, ...scopesAround(subject)].some((scope) => settings.has(scope))
  }

  async #own<Setting>(
    settings: ReadonlyMap<string, Setting | undefined>,
    subject: string | undefined,
    read: (name: string | undefined) => Promise<Setting | undefined>,
  ): Promise<Setting | undefined> {
    const name = subject ?? GLOBAL
    return settings.has(name) ? settings.get(name) : read(subject)
  }

  /** The setting of the nearest scope around a subject that has one. */
  async #inherited<Setting>(
    settings: ReadonlyMap<string, Setting | undefined>,
    subject: string | undefined,
    read: (name: string | undefined) => Promise<Setting | undefined>,
  ): Promise<Setting | undefined> {
    for (const scope of scopesAround(subject)) {
      const found = await this.#own(settings, scope === GLOBAL ? undefined : scope, read)
      if (found !== undefined) return found
    }
    return undefined
  }

  #once<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#responses.get(key) as Promise<T> | undefined
    const response = known ?? read()
    if (known === undefined) this.#responses.set(key, response)
    return response
  }
}

/** The context of a subject, unless it is the default one, and the registry. */
function scopesAround(subject: string | undefined): readonly string[] {
  if (subject === undefined) return []
  const { context, name } = splitSubject(subject)
  return context === DEFAULT_CONTEXT || name === '' ? [GLOBAL] : [`:${context}:`, GLOBAL]
}

/** Whether two schemas are written alike. What differs in its formatting only is decided by the base. */
function isSame(one: NewSchema, other: NewSchema): boolean {
  const content = ({ schema, schemaType = 'AVRO', references = [], metadata, ruleSet }: NewSchema) => ({
    schema,
    schemaType,
    references,
    metadata,
    ruleSet,
  })
  return isDeepStrictEqual(content(one), content(other))
}

function subjectNotFound(subject: string): RequestError {
  return new RequestError(404, REGISTRY_ERROR.subjectNotFound, `Subject '${subject}' not found.`)
}

function versionNotFound(version: number): RequestError {
  return new RequestError(404, REGISTRY_ERROR.versionNotFound, `Version ${version} not found.`)
}

function schemaNotFound(): RequestError {
  return new RequestError(404, REGISTRY_ERROR.schemaNotFound, 'Schema not found')
}

function throwNotFound(errorCode: number, message: string): never {
  throw new RequestError(404, errorCode, message)
}

function notFoundAsUndefined(error: unknown): undefined {
  if (error instanceof RequestError && error.status === 404) return undefined
  throw error
}

/** Operations that no reconciler uses. */
function notSimulated(name: string): () => Promise<never> {
  return () => Promise.reject(new Error(`${name} is not part of a simulation`))
}
