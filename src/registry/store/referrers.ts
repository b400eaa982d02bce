import { contextOf } from '../../formats/qualified-subject.ts'
import { type Subject, toSubject } from '../model/subject.ts'
import type { StoredSchema } from './registry-record.ts'

type Place = Pick<StoredSchema, 'subject' | 'version'>

/** Which versions reference a version. */
export class Referrers {
  /** Key of the referenced version → key of each version that references it. */
  readonly #places = new Map<string, Map<string, Place>>()

  of(subject: Subject, version: number): readonly Place[] {
    return [...(this.#places.get(keyOf(subject, version))?.values() ?? [])]
  }

  add({ subject, version, content }: StoredSchema): void {
    for (const key of content.references.map((reference) => referencedKey(subject, reference))) {
      const places = this.#places.get(key) ?? new Map<string, Place>()
      this.#places.set(key, places.set(keyOf(subject, version), { subject, version }))
    }
  }

  remove({ subject, version, content }: StoredSchema): void {
    for (const key of content.references.map((reference) => referencedKey(subject, reference))) {
      const places = this.#places.get(key)
      places?.delete(keyOf(subject, version))
      if (places?.size === 0) this.#places.delete(key)
    }
  }
}

function keyOf(subject: Subject, version: number): string {
  return `${version} ${subject}`
}

/** The subject of a reference is resolved in the context of the schema that contains the reference. */
function referencedKey(subject: Subject, reference: { readonly subject: string; readonly version: number }): string {
  return keyOf(toSubject(reference.subject, contextOf(subject)), reference.version)
}
