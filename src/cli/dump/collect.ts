import { RequestError } from '../../clients/http.ts'
import type { RegisteredSchema, RegistryClient } from '../../clients/registry.ts'
import {
  contentOf,
  DEFAULT_CONTEXT,
  type Dump,
  type DumpedContext,
  type DumpedSettings,
  type DumpedSubject,
  type DumpedVersion,
  GLOBAL_CONTEXT,
  nameOfContext,
  type Placed,
  placedVersions,
  placeKey,
  referencesOf,
} from './dump.ts'
import { eachOf, patient } from './pool.ts'

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
export async function collectDump(registry: RegistryClient, options: CollectOptions): Promise<Dump> {
  const { deleted, also = [], signal, onSubject } = options
  const pace = signal ? { signal } : {}
  // A registry that is not there is told at once: only from here on it is waited for.
  const withVersions = await registry.subjects({ deleted, prefix: ':*:' })
  const client = patient(registry)
  // Not every registry knows contexts and aliases.
  const named = (await client.contexts().catch(orAbsent)) ?? [DEFAULT_CONTEXT]
  // Some write `.a` as `:.a:`.
  const contexts = named.map((context) => context.replace(/^:(.*):$/, '$1'))
  const aliases = (await client.aliases().catch(orAbsent)) ?? []
  const names = [...new Set([...withVersions, ...aliases, ...also])]
  let done = 0
  onSubject?.(0, names.length)
  const subjects = await eachOf(names, (subject) => collectSubject(client, subject, deleted), {
    ...pace,
    onDone: () => onSubject?.(++done, names.length),
  })
  const dump: Dump = {
    contexts: await eachOf([...contexts, GLOBAL_CONTEXT], (name) => collectContext(client, name), pace),
    subjects,
  }
  const complete = deleted ? dump : await withReferenced(client, dump)
  return { ...complete, subjects: complete.subjects.toSorted((a, b) => (a.subject < b.subject ? -1 : 1)) }
}

async function collectContext(client: RegistryClient, context: string): Promise<DumpedContext> {
  const { config, mode } = await collectSettings(client, nameOfContext(context))
  // What answers always has a mode, whether one was set or not.
  const isSet = mode !== undefined && mode !== 'READWRITE'
  return { context, ...(config ? { config } : {}), ...(isSet ? { mode } : {}) }
}

async function collectSubject(client: RegistryClient, subject: string, deleted: boolean): Promise<DumpedSubject> {
  const live = new Set(await client.versions(subject).catch(orNone))
  const numbers = deleted ? await client.versions(subject, { deleted: true }).catch(orNone) : [...live]
  const versions: DumpedVersion[] = []
  for (const number of numbers) {
    const found = await client.version(subject, number, { deleted }).catch(orAbsent)
    // Undefined: deleted meanwhile. And what an alias answers belongs to the subject that it stands for.
    if (found?.subject === subject) versions.push(toDumped(found, !live.has(number)))
  }
  return { subject, ...(await collectSettings(client, subject)), versions }
}

async function collectSettings(client: RegistryClient, name: string | undefined): Promise<DumpedSettings> {
  const [config, mode] = await Promise.all([client.config(name).catch(orAbsent), client.mode(name).catch(orAbsent)])
  return { ...(config ? { config } : {}), ...(mode ? { mode } : {}) }
}

function toDumped(found: RegisteredSchema, deleted: boolean): DumpedVersion {
  const { version, id } = found
  return { version, id, ...contentOf(found), ...(deleted ? { deleted } : {}) }
}

/** Adds what is referred to but was left out because it is deleted: without it nothing that refers to it can be read. */
async function withReferenced(client: RegistryClient, dump: Dump): Promise<Dump> {
  const all = new Map(dump.subjects.map((one) => [one.subject, one]))
  const asked = new Set(placedVersions(dump).map(({ subject, version }) => placeKey(subject, version.version)))
  const left = placedVersions(dump).flatMap(referencesOf)
  for (let next = left.pop(); next; next = left.pop()) {
    const { subject, version } = next
    if (asked.has(placeKey(subject, version))) continue
    asked.add(placeKey(subject, version))
    const found = await client.version(subject, version, { deleted: true }).catch(orAbsent)
    if (found === undefined) continue
    const placed: Placed = { subject: found.subject, version: toDumped(found, true) }
    all.set(placed.subject, withVersion(all.get(placed.subject), placed))
    left.push(...referencesOf(placed))
  }
  return { ...dump, subjects: [...all.values()] }
}

function withVersion(known: DumpedSubject | undefined, { subject, version }: Placed): DumpedSubject {
  const versions = [...(known?.versions ?? []), version]
  return { ...known, subject, versions: versions.toSorted((a, b) => a.version - b.version) }
}

/** Nothing is set there, or this registry knows no such place. */
function orAbsent(error: unknown): undefined {
  if (error instanceof RequestError && [404, 405, 422].includes(error.status)) return undefined
  throw error
}

function orNone(error: unknown): readonly number[] {
  return orAbsent(error) ?? []
}
