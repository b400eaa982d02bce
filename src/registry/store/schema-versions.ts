import { contextOf } from '../../formats/qualified-subject.ts'
import type { SchemaContent, SchemaVersion } from '../model/schema.ts'
import type { Subject } from '../model/subject.ts'
import type { RetiredIds } from './leader-claim.ts'

/** The versions of a context by schema ID and by content. */
type Context = {
  /** Oldest record first. */
  readonly byId: Map<number, SchemaVersion[]>
  /** GUID → a version with the ID that the content has. */
  readonly byGuid: Map<string, SchemaVersion>
  idMax: number
}

/**
 * The versions of all subjects. A version is an immutable object; versions of a context with the same content share the
 * object of the content.
 */
export class SchemaVersions {
  /** In ascending order. */
  readonly #bySubject = new Map<Subject, SchemaVersion[]>()
  readonly #contexts = new Map<string, Context>()

  subjects(): IteratorObject<Subject> {
    return this.#bySubject.keys()
  }

  ofSubject(subject: Subject): readonly SchemaVersion[] {
    return this.#bySubject.get(subject) ?? []
  }

  get(subject: Subject, version: number): SchemaVersion | undefined {
    const versions = this.ofSubject(subject)
    const found = versions[placeOf(versions, version)]
    return found?.version === version ? found : undefined
  }

  /** The versions with an ID, oldest record first. */
  ofId(context: string, id: number): readonly SchemaVersion[] {
    return this.#contexts.get(context)?.byId.get(id) ?? []
  }

  /** A version with this content and the ID that the content has. */
  ofContent(context: string, guid: string): SchemaVersion | undefined {
    return this.#contexts.get(context)?.byGuid.get(guid)
  }

  idMax(context: string): number {
    return this.#contexts.get(context)?.idMax ?? 0
  }

  /** The ID is not assigned to another schema later, also if no version has it. */
  reserveId(context: string, id: number): void {
    const found = this.#context(context)
    found.idMax = Math.max(found.idMax, id)
  }

  /** By context, the largest ID that is reserved, where no version that `isKept` has it. */
  retiredIds(isKept: (version: SchemaVersion) => boolean): RetiredIds {
    const retired = [...this.#contexts].filter(
      ([, { byId, idMax }]) => idMax > 0 && !byId.get(idMax)?.some((version) => isKept(version)),
    )
    return Object.fromEntries(retired.map(([context, { idMax }]) => [context, idMax]))
  }

  /** Whether the context contains a version. */
  isInUse(context: string): boolean {
    return (this.#contexts.get(context)?.byId.size ?? 0) > 0
  }

  /** The contexts that contain a version. */
  contexts(): readonly string[] {
    return [...this.#contexts.keys()].filter((name) => this.isInUse(name))
  }

  /** Adds a version. Its number must not be in use. */
  add(added: SchemaVersion): void {
    const context = this.#context(contextOf(added.subject))
    const versions = this.#bySubject.get(added.subject) ?? []
    // Strings and contents that are equal are stored once.
    const subject = versions[0]?.subject ?? added.subject
    const { version: number, id, deleted, timestampMs, extra } = added
    const content = sharedContent(context, added.content)
    // Written out, because V8 stores members that follow a spread in a second object.
    const version = { subject, version: number, id, content, deleted, timestampMs, extra }
    if (versions.length === 0) this.#bySubject.set(subject, [version])
    else versions.splice(placeOf(versions, number), 0, version)
    const holders = context.byId.get(version.id)
    if (holders) holders.push(version)
    else context.byId.set(version.id, [version])
    context.byGuid.set(version.content.guid, version)
  }

  remove(version: SchemaVersion): void {
    const { subject, id, content } = version
    const versions = this.#bySubject.get(subject)!
    versions.splice(versions.indexOf(version), 1)
    if (versions.length === 0) this.#bySubject.delete(subject)
    const { byId, byGuid } = this.#context(contextOf(subject))
    const holders = byId.get(id)!
    holders.splice(holders.indexOf(version), 1)
    if (holders.length === 0) byId.delete(id)
    // Another ID that has the content keeps it.
    if (byGuid.get(content.guid)?.id !== id) return
    const other = holders.find((holder) => holder.content.guid === content.guid)
    if (other) byGuid.set(content.guid, other)
    else byGuid.delete(content.guid)
  }

  /** Marks a version as deleted. Its place among the versions with its ID is the same. */
  softDelete(version: SchemaVersion): void {
    const deleted = { ...version, deleted: true }
    const { byId, byGuid } = this.#context(contextOf(version.subject))
    for (const versions of [this.#bySubject.get(version.subject)!, byId.get(version.id)!]) {
      versions[versions.indexOf(version)] = deleted
    }
    if (byGuid.get(version.content.guid) === version) byGuid.set(version.content.guid, deleted)
  }

  #context(name: string): Context {
    const found = this.#contexts.get(name)
    if (found) return found
    const made: Context = { byId: new Map(), byGuid: new Map(), idMax: 0 }
    this.#contexts.set(name, made)
    return made
  }
}

function sharedContent(context: Context, content: SchemaContent): SchemaContent {
  const known = context.byGuid.get(content.guid)?.content
  // A record can contain a GUID that is not that of its content.
  return known && known.type === content.type && known.text === content.text ? known : content
}

/** The index of the first version that is not smaller: where the version is, or would be inserted. */
function placeOf(versions: readonly SchemaVersion[], version: number): number {
  let low = 0
  let high = versions.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (versions[middle]!.version < version) low = middle + 1
    else high = middle
  }
  return low
}
