import type { Subject } from '../model/subject.ts'

/** The versions whose records cannot be read. */
export class UnreadableVersions {
  readonly #versions = new Map<Subject, Set<number>>()

  add(subject: Subject, version: number): void {
    this.#versions.set(subject, (this.#versions.get(subject) ?? new Set()).add(version))
  }

  /** Called for every record of a version. */
  delete(subject: Subject, version: number): void {
    if (this.#versions.size > 0) this.#versions.get(subject)?.delete(version)
  }

  /** The highest version of the subject; 0 if all can be read. */
  max(subject: Subject): number {
    return Math.max(0, ...(this.#versions.get(subject) ?? []))
  }
}
