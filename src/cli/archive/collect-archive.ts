import { RequestError } from '../../clients/http-client.ts'
import type { RegisteredSchema, RegistryClient } from '../../clients/registry-client.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'
import { DEFAULT_CONTEXT, GLOBAL_CONTEXT } from '../../formats/qualified-subject.ts'
import { withRetries } from './concurrent-requests.ts'
import {
  type ArchivedContext,
  type ArchivedSettings,
  type ArchivedSubject,
  type ArchivedVersion,
  configNameOf,
  type RegistryArchive,
  referencesOf,
  type SubjectVersion,
  schemaContentOf,
  versionKey,
  versionsOf,
} from './registry-archive.ts'

export type CollectOptions = {
  /** Includes all soft-deleted versions, not only those that an included version references. */
  readonly deleted: boolean
  /** Subjects that may have config or mode without a version or alias, so that no list of the registry contains them. */
  readonly extraSubjects?: readonly string[]
  readonly signal?: AbortSignal
  /** Called with 0 first, then after each subject. */
  readonly onSubject?: (done: number, all: number) => void
}

/** Reads the whole content of a registry by its REST API. Rejects with a `RequestError`. */
export async function collectArchive(registry: RegistryClient, options: CollectOptions): Promise<RegistryArchive> {
  const { deleted, extraSubjects = [], signal, onSubject } = options
  const concurrency = signal ? { signal } : {}
  // Without retries, so that an unavailable registry is reported at once. All later requests are retried.
  const withVersions = await registry.subjects({ deleted, prefix: ':*:' })
  const client = withRetries(registry)
  // Older registries have no contexts and aliases.
  const named = (await client.contexts().catch(undefinedIfAbsent)) ?? [DEFAULT_CONTEXT]
  // Some registries list the context `.a` as `:.a:`.
  const contexts = named.map((context) => context.replace(/^:(.*):$/, '$1'))
  const aliases = (await client.aliases().catch(undefinedIfAbsent)) ?? []
  const names = [...new Set([...withVersions, ...aliases, ...extraSubjects])]
  let done = 0
  onSubject?.(0, names.length)
  const subjects = await mapConcurrently(names, (subject) => collectSubject(client, subject, deleted), {
    ...concurrency,
    onDone: () => onSubject?.(++done, names.length),
  })
  const archive: RegistryArchive = {
    contexts: await mapConcurrently([...contexts, GLOBAL_CONTEXT], (name) => collectContext(client, name), concurrency),
    subjects,
  }
  const complete = deleted ? archive : await withReferenced(client, archive)
  return { ...complete, subjects: complete.subjects.toSorted((a, b) => (a.subject < b.subject ? -1 : 1)) }
}

async function collectContext(client: RegistryClient, context: string): Promise<ArchivedContext> {
  const { config, mode } = await collectSettings(client, configNameOf(context))
  // A registry always reports a mode for a context, set or not.
  const isSet = mode !== undefined && mode !== 'READWRITE'
  return { context, ...(config ? { config } : {}), ...(isSet ? { mode } : {}) }
}

async function collectSubject(client: RegistryClient, subject: string, deleted: boolean): Promise<ArchivedSubject> {
  const live = new Set(await client.versions(subject).catch(emptyIfAbsent))
  const numbers = deleted ? await client.versions(subject, { deleted: true }).catch(emptyIfAbsent) : [...live]
  const versions: ArchivedVersion[] = []
  for (const number of numbers) {
    const found = await client.version(subject, number, { deleted }).catch(undefinedIfAbsent)
    // Undefined when it was deleted in the meantime; another subject when the name is an alias.
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
  return { version, id, ...schemaContentOf(found), ...(deleted ? { deleted } : {}) }
}

/** Adds the soft-deleted versions that other versions reference: the archive could not be imported without them. */
async function withReferenced(client: RegistryClient, archive: RegistryArchive): Promise<RegistryArchive> {
  const all = new Map(archive.subjects.map((one) => [one.subject, one]))
  const requested = new Set(versionsOf(archive).map(({ subject, version }) => versionKey(subject, version.version)))
  const remaining = versionsOf(archive).flatMap(referencesOf)
  for (let next = remaining.pop(); next; next = remaining.pop()) {
    const { subject, version } = next
    if (requested.has(versionKey(subject, version))) continue
    requested.add(versionKey(subject, version))
    const found = await client.version(subject, version, { deleted: true }).catch(undefinedIfAbsent)
    if (found === undefined) continue
    const referenced: SubjectVersion = { subject: found.subject, version: toArchivedVersion(found, true) }
    all.set(referenced.subject, withVersion(all.get(referenced.subject), referenced))
    remaining.push(...referencesOf(referenced))
  }
  return { ...archive, subjects: [...all.values()] }
}

function withVersion(known: ArchivedSubject | undefined, { subject, version }: SubjectVersion): ArchivedSubject {
  const versions = [...(known?.versions ?? []), version]
  return { ...known, subject, versions: versions.toSorted((a, b) => a.version - b.version) }
}

/** For resources that do not exist or that this registry does not support. */
function undefinedIfAbsent(error: unknown): undefined {
  if (error instanceof RequestError && [404, 405, 422].includes(error.status)) return undefined
  throw error
}

function emptyIfAbsent(error: unknown): readonly number[] {
  return undefinedIfAbsent(error) ?? []
}
