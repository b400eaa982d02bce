import type { Association, StoredAssociation } from '../model/association.ts'
import type { Subject } from '../model/subject.ts'
import { associationKeyText } from './association-codec.ts'
import type { AssociationKey } from './registry-record.ts'

/** The associations in the log, indexed by record key, by subject and by resource ID. */
export class AssociationIndex {
  readonly #byKey = new Map<string, StoredAssociation>()
  readonly #bySubject = new Map<string, Set<StoredAssociation>>()
  readonly #byResource = new Map<string, Set<StoredAssociation>>()

  /** Adds or replaces an association. A `null` value deletes it. The creation time is that of the first record. */
  put(key: AssociationKey, value: Association | null, timestampMs: number): void {
    const text = associationKeyText(key)
    const before = this.#byKey.get(text)
    if (before) {
      this.#byKey.delete(text)
      remove(this.#bySubject, before.subject, before)
      remove(this.#byResource, before.resourceId, before)
    }
    if (!value) return
    const stored = {
      ...value,
      createTimestampMs: before?.createTimestampMs ?? timestampMs,
      updateTimestampMs: timestampMs,
    }
    this.#byKey.set(text, stored)
    add(this.#bySubject, stored.subject, stored)
    add(this.#byResource, stored.resourceId, stored)
  }

  all(): Iterable<StoredAssociation> {
    return this.#byKey.values()
  }

  ofSubject(subject: Subject): readonly StoredAssociation[] {
    return [...(this.#bySubject.get(subject) ?? [])]
  }

  ofResource(resourceId: string): readonly StoredAssociation[] {
    return [...(this.#byResource.get(resourceId) ?? [])]
  }
}

function add<Item>(index: Map<string, Set<Item>>, key: string, item: Item): void {
  const items = index.get(key)
  if (items) items.add(item)
  else index.set(key, new Set([item]))
}

function remove<Item>(index: Map<string, Set<Item>>, key: string, item: Item): void {
  const items = index.get(key)
  items?.delete(item)
  if (items?.size === 0) index.delete(key)
}
