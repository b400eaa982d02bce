import { RequestError } from '../../clients/http.ts'
import type { RegisteredSchema, RegistryClient } from '../../clients/registry.ts'
import {
  type ArchivedContext,
  type ArchivedSettings,
  type ArchivedSubject,
  type ArchivedVersion,
  configNameOf,
  DEFAULT_CONTEXT_NAME,
  GLOBAL_CONTEXT_NAME,
  type RegistryArchive,
  referencesOf,
  type SubjectVersion,
  schemaOf,
  versionKey,
  versionsOf,
} from './archive.ts'
import { mapConcurrently, withRetries } from './concurrent-requests.ts'

export type CollectOptions = {
  /** Soft-deleted versions too. Without it only those that a collected one refers to. */
  readonly deleted: boolean
  /** Subjects that may have settings although nothing lists them: no version, no alias. */
  readonly also?: readonly string[]
  readonly signal?: AbortSignal
  /** Called first with 0, and then after each subject. */
  readonly onSubject?: (done: number, all: number) => void
}

/** Everything that a registry tells over REST. Rejects with a `RequestError`. */
export async function collectArchive(registry: RegistryClient, options: CollectOptions): Promise<RegistryArchive> {
  const { deleted, also = [], signal, onSubject } = options
  const pace = signal ? { signal } : {}
  // A registry that is not there is told at once: only from here on it is waited for.
  const withVersions = await registry.subjects({ deleted, prefix: ':*:' })
  const client = withRetries(registry)
  // Not every registry knows contexts and aliases.
  const named = (await client.contexts().catch(undefinedIfAbsent)) ?? [DEFAULT_CONTEXT_NAME]
  // Some write `.a` as `:.a:`.
  const contexts = named.map((context) => context.replace(/^:(.*):$/, '$1'))
  const aliases = (await client.aliases().catch(undefinedIfAbsent)) ?? []
  const names = [...new Set([...withVersions, ...aliases, ...also])]
  let done = 0
  onSubject?.(0, names.length)
  const subjects = await mapConcurrently(names, (subject) => collectSubject(client, subject, deleted), {
    ...pace,
    onDone: () => onSubject?.(++done, names.length),
  })
  const dump: RegistryArchive = {
    contexts: await mapConcurrently([...contexts, GLOBAL_CONTEXT_NAME], (name) => collectContext(client, name), pace),
    subjects,
  }
  const complete = deleted ? dump : await withReferenced(client, dump)
  return { ...complete, subjects: complete.subjects.toSorted((a, b) => (a.subject < b.subject ? -1 : 1)) }
}

async function collectContext(client: RegistryClient, context: string): Promise<ArchivedContext> {
  const { config, mode } = await collectSettings(client, configNameOf(context))
  // What answers always has a mode, whether one was set or not.
  const isSet = mode !== undefined && mode !== 'READWRITE'
  return { context, ...(config ? { config } : {}), ...(isSet ? { mode } : {}) }
}

async function collectSubject(client: RegistryClient, subject: string, deleted: boolean): Promise<ArchivedSubject> {
  const live = new Set(await client.versions(subject).catch(emptyIfAbsent))
  const numbers = deleted ? await client.versions(subject, { deleted: true }).catch(emptyIfAbsent) : [...live]
  const versions: ArchivedVersion[] = []
  for (const number of numbers) {
    const found = await client.version(subject, number, { deleted }).catch(undefinedIfAbsent)
    // Undefined: deleted meanwhile. And what an alias answers belongs to the subject that it stands for.
    if (found?.subject === subject) versions.push(toArchivedVersion(found, !live.has(number)))
  }
  return { subject, ...(await collectSettings(client, subject)), versions }
}

async function collectSettings(client: RegistryClient, name: string | undefined): Promise<ArchivedSettings> {
  const [config, mode] = await Promise.all([
    client.config(name).catch(undefinedIfAbsent),
    client.mode(name).catch(undefinedIfAbsent),
  ])
  return { ...(config ? { config } : {}), ...(mode ? { mode } : {}) }
}

function toArchivedVersion(found: RegisteredSchema, deleted: boolean): ArchivedVersion {
  const { version, id } = found
  return { version, id, ...schemaOf(found), ...(deleted ? { deleted } : {}) }
}

/** Adds what is referred to but was left out because it is deleted: without it nothing that refers to it can be read. */
async function withReferenced(client: RegistryClient, dump: RegistryArchive): Promise<RegistryArchive> {
  const all = new Map(dump.subjects.map((one) => [one.subject, one]))
  const asked = new Set(versionsOf(dump).map(({ subject, version }) => versionKey(subject, version.version)))
  const left = versionsOf(dump).flatMap(referencesOf)
  for (let next = left.pop(); next; next = left.pop()) {
    const { subject, version } = next
    if (asked.has(versionKey(subject, version))) continue
    asked.add(versionKey(subject, version))
    const found = await client.version(subject, version, { deleted: true }).catch(undefinedIfAbsent)
    if (found === undefined) continue
    const placed: SubjectVersion = { subject: found.subject, version: toArchivedVersion(found, true) }
    all.set(placed.subject, withVersion(all.get(placed.subject), placed))
    left.push(...referencesOf(placed))
  }
  return { ...dump, subjects: [...all.values()] }
}

function withVersion(known: ArchivedSubject | undefined, { subject, version }: SubjectVersion): ArchivedSubject {
  const versions = [...(known?.versions ?? []), version]
  return { ...known, subject, versions: versions.toSorted((a, b) => a.version - b.version) }
}

/** Nothing is set there, or this registry knows no such place. */
function undefinedIfAbsent(error: unknown): undefined {
  if (error instanceof RequestError && [404, 405, 422].includes(error.status)) return undefined
  throw error
}

function emptyIfAbsent(error: unknown): readonly number[] {
  return undefinedIfAbsent(error) ?? []
}
