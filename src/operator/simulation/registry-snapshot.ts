import { isDeepStrictEqual } from 'node:util'
import { RequestError } from '../../clients/http-client.ts'
import {
  type Mode,
  type NewSchema,
  REGISTRY_ERROR,
  type RegisteredSchema,
  type SchemaMetadata,
  type SubjectConfig,
} from '../../clients/registry-client.ts'
import type { ParsedSchema } from '../../formats/format.ts'
import { contextOf, DEFAULT_CONTEXT, GLOBAL_CONTEXT, splitSubject } from '../../formats/qualified-subject.ts'
import { normalizedReferences } from '../../formats/references.ts'
import { SchemaError } from '../../formats/schema-error.ts'
import { parseSchema } from '../subject/schema-compatibility.ts'
import type { RegistryReader } from './registry-overlay.ts'

type Settings = { readonly config?: SubjectConfig; readonly mode?: Mode }
type SnapshotVersion = Omit<NewSchema, 'id' | 'version'> & {
  readonly version: number
  readonly id: number
  /** Soft-deleted. */
  readonly deleted?: true
}

/** The content of a registry at some time, as `weir export` writes it. */
export type RegistryContent = {
  readonly contexts: readonly (Settings & { readonly context: string })[]
  readonly subjects: readonly (Settings & {
    readonly subject: string
    /** In ascending order. */
    readonly versions: readonly SnapshotVersion[]
  })[]
}

/** A property that a registry adds to versions that repeat an earlier one. */
const VERSION_PROPERTY = 'confluent:version'

/** Answers the reads of a registry from its exported content. */
export class RegistrySnapshot implements RegistryReader {
  readonly #contexts: ReadonlyMap<string, Settings>
  readonly #subjects: ReadonlyMap<string, RegistryContent['subjects'][number]>
  readonly #parsed = new Map<SnapshotVersion, Promise<ParsedSchema | undefined>>()

  constructor({ contexts, subjects }: RegistryContent) {
    this.#contexts = new Map(contexts.map((one) => [one.context, one]))
    this.#subjects = new Map(subjects.map((one) => [one.subject, one]))
  }

  async subjects({ prefix = '', deleted = false } = {}): Promise<readonly string[]> {
    const names = [...this.#subjects.keys()].filter((name) => this.#versionsOf(name, deleted).length > 0)
    if (prefix === ':*:') return names
    return names.filter((name) => (prefix === '' ? contextOf(name) === DEFAULT_CONTEXT : name.startsWith(prefix)))
  }

  async versions(subject: string, { deleted = false } = {}): Promise<readonly number[]> {
    return this.#requireVersions(subject, deleted).map(({ version }) => version)
  }

  async version(subject: string, version: number | 'latest', { deleted = false } = {}): Promise<RegisteredSchema> {
    const versions = this.#requireVersions(subject, deleted)
    const found = version === 'latest' ? versions.at(-1) : versions.find((one) => one.version === version)
    if (found !== undefined) return { ...found, subject }
    throw new RequestError(404, REGISTRY_ERROR.versionNotFound, `Version ${version} not found.`)
  }

  async lookup(
    subject: string,
    schema: NewSchema,
    { normalize = false, deleted = false } = {},
  ): Promise<RegisteredSchema> {
    const versions = this.#requireVersions(subject, deleted)
    const latest = versions.at(-1)
    const candidates = versions.filter((version) => hasSameRules(schema, version, latest))
    const found =
      candidates.findLast((version) => isWrittenAlike(schema, version)) ??
      (await this.#equivalent(
        subject,
        await this.#parseSent(subject, schema),
        schema,
        candidates,
        normalize || (await this.#normalizes(subject)),
      ))
    if (found !== undefined) return { ...found, subject }
    throw new RequestError(404, REGISTRY_ERROR.schemaNotFound, 'Schema not found')
  }

  async config(subject?: string, { effective = false } = {}): Promise<SubjectConfig> {
    const own = this.#settings(subject)?.config
    if (!effective || subject === undefined) {
      if (own !== undefined) return own
      if (subject === undefined) return this.#contexts.get(GLOBAL_CONTEXT)?.config ?? { compatibility: 'BACKWARD' }
      throw new RequestError(404, REGISTRY_ERROR.configNotFound, `Subject '${subject}' has no config.`)
    }
    const context = this.#contextSettings(subject, ({ config }) => config !== undefined)?.config
    const level = { compatibility: 'BACKWARD' } as const
    return own === undefined ? { ...level, ...context } : { ...level, ...this.#settings(undefined)?.config, ...own }
  }

  async mode(subject?: string, { effective = false } = {}): Promise<Mode> {
    const own = this.#settings(subject)?.mode
    if (own !== undefined) return own
    if (!effective && subject !== undefined) {
      throw new RequestError(404, REGISTRY_ERROR.modeNotFound, `Subject '${subject}' has no mode.`)
    }
    return this.#contextSettings(subject, ({ mode }) => mode !== undefined)?.mode ?? 'READWRITE'
  }

  /** The settings of a subject, of a context (`:.context:`) or, without a name, of the default context. */
  #settings(name: string | undefined): Settings | undefined {
    if (name === undefined) return this.#contexts.get(DEFAULT_CONTEXT)
    const parts = splitSubject(name)
    const isContext = parts.context !== DEFAULT_CONTEXT && parts.name === ''
    return isContext ? this.#contexts.get(parts.context) : this.#subjects.get(name)
  }

  /** The settings of the context of a subject or, if it has none of this kind, those of all contexts. */
  #contextSettings(subject: string | undefined, has: (settings: Settings) => boolean): Settings | undefined {
    return [this.#contexts.get(contextOf(subject ?? '')), this.#contexts.get(GLOBAL_CONTEXT)].find(
      (settings) => settings !== undefined && has(settings),
    )
  }

  async #normalizes(subject: string): Promise<boolean> {
    return (await this.config(subject, { effective: true })).normalize === true
  }

  #versionsOf(subject: string, deleted: boolean): readonly SnapshotVersion[] {
    const versions = this.#subjects.get(subject)?.versions ?? []
    return deleted ? versions : versions.filter((version) => version.deleted !== true)
  }

  #requireVersions(subject: string, deleted: boolean): readonly SnapshotVersion[] {
    const versions = this.#versionsOf(subject, deleted)
    if (versions.length > 0) return versions
    throw new RequestError(404, REGISTRY_ERROR.subjectNotFound, `Subject '${subject}' not found.`)
  }

  /** The newest version that differs from the schema in its notation only. */
  async #equivalent(
    subject: string,
    parsed: ParsedSchema,
    schema: NewSchema,
    versions: readonly SnapshotVersion[],
    normalizes: boolean,
  ): Promise<SnapshotVersion | undefined> {
    const { schemaType = 'AVRO' } = schema
    const sent = normalizes ? parsed.normalized() : parsed
    // A registry identifies a schema by a hash of its text, which does not contain its type.
    const identical = versions.find(
      (version) => version.schema === sent.canonical && hasSameReferences(schema, version, normalizes),
    )
    if (identical !== undefined) return identical
    const sameType = versions.filter((version) => (version.schemaType ?? 'AVRO') === schemaType)
    for (const version of sameType.toReversed()) {
      const isInlined = (schema.references ?? []).length === 0 && (version.references ?? []).length > 0
      if (!isInlined && !hasSameReferences(schema, version, normalizes)) continue
      const stored = await this.#parseStored(subject, version)
      if (stored !== undefined && isEquivalent(sent, stored, isInlined)) return version
    }
    return undefined
  }

  #parseStored(subject: string, version: SnapshotVersion): Promise<ParsedSchema | undefined> {
    // A stored text may be invalid: then it equals no other one.
    const parsed = this.#parsed.get(version) ?? this.#parse(subject, version).catch(() => undefined)
    this.#parsed.set(version, parsed)
    return parsed
  }

  async #parseSent(subject: string, schema: NewSchema): Promise<ParsedSchema> {
    try {
      return await this.#parse(subject, schema)
    } catch (error) {
      if (!(error instanceof SchemaError || error instanceof RequestError)) throw error
      throw new RequestError(422, REGISTRY_ERROR.invalidSchema, error.message)
    }
  }

  #parse(subject: string, schema: NewSchema): Promise<ParsedSchema> {
    const lookup = (name: string, version: number) => this.version(name, version, { deleted: true })
    return parseSchema({ ...schema, subject }, lookup, { validation: 'loose' })
  }
}

/** `isInlined`: the text of the sent schema contains what the stored one refers to. */
function isEquivalent(sent: ParsedSchema, stored: ParsedSchema, isInlined: boolean): boolean {
  const text = isInlined ? (stored.formatted('resolved') ?? stored.canonical) : stored.canonical
  return text === sent.canonical || sent.isEquivalent(stored)
}

function isWrittenAlike(schema: NewSchema, version: SnapshotVersion): boolean {
  const isSameText = schema.schema === version.schema
  const isSameType = (schema.schemaType ?? 'AVRO') === (version.schemaType ?? 'AVRO')
  return isSameText && isSameType && hasSameReferences(schema, version, false)
}

function hasSameReferences(one: NewSchema, other: NewSchema, normalizes: boolean): boolean {
  const [a, b] = [one.references ?? [], other.references ?? []]
  return isDeepStrictEqual(normalizes ? normalizedReferences(a) : a, normalizes ? normalizedReferences(b) : b)
}

/** Whether metadata and rules are equal. A schema without them has those of the latest version. */
function hasSameRules(
  { metadata, ruleSet }: NewSchema,
  version: SnapshotVersion,
  latest: SnapshotVersion | undefined,
): boolean {
  const isSame = (sent: unknown, inherited: unknown, stored: unknown) =>
    isDeepStrictEqual(sent, stored) || (sent === undefined && isDeepStrictEqual(inherited, stored))
  const [sent, inherited, stored] = [metadata, latest?.metadata, version.metadata].map(withoutVersionProperty)
  return isSame(sent, inherited, stored) && isSame(ruleSet, latest?.ruleSet, version.ruleSet)
}

/** Undefined where nothing else is left. */
function withoutVersionProperty(metadata: SchemaMetadata | undefined): SchemaMetadata | undefined {
  if (metadata?.properties?.[VERSION_PROPERTY] === undefined) return metadata
  const { [VERSION_PROPERTY]: _, ...properties } = metadata.properties
  const { properties: __, ...others } = metadata
  const isEmpty = Object.keys(properties).length === 0
  const rest = isEmpty ? others : { ...others, properties }
  return Object.keys(rest).length === 0 ? undefined : rest
}
