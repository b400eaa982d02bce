import { contextOf } from '../../formats/qualified-subject.ts'
import type { SchemaReference } from '../../formats/references.ts'
import { type Subject, toSubject } from '../model/subject.ts'

/** The rows of the versions whose references name a version, by that version. */
export class Referrers {
  readonly #rows = new Map<string, Set<number>>()

  of(subject: Subject, version: number): Iterable<number> {
    return this.#rows.get(placeKey(subject, version)) ?? []
  }

  /** `subject` is that of the row, and `references` are those of its content. */
  add(row: number, subject: Subject, references: readonly SchemaReference[]): void {
    for (const reference of references) {
      const key = referenceKey(subject, reference)
      const rows = this.#rows.get(key) ?? new Set()
      rows.add(row)
      this.#rows.set(key, rows)
    }
  }

  remove(row: number, subject: Subject, references: readonly SchemaReference[]): void {
    for (const reference of references) {
      const key = referenceKey(subject, reference)
      const rows = this.#rows.get(key)
      rows?.delete(row)
      if (rows?.size === 0) this.#rows.delete(key)
    }
  }
}

function placeKey(subject: Subject, version: number): string {
  return `${version} ${subject}`
}

/** The subject of a reference is resolved in the context of the schema that contains the reference. */
function referenceKey(subject: Subject, reference: SchemaReference): string {
  return placeKey(toSubject(reference.subject, contextOf(subject)), reference.version)
}
