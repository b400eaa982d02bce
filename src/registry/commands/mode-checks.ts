import type { Mode } from '../../clients/registry-client.ts'
import { contextOf } from '../../formats/qualified-subject.ts'
import { notPermitted } from '../model/registry-error.ts'
import type { Subject } from '../model/subject.ts'
import { type Defaults, modeInScope } from '../queries/effective-config.ts'
import type { RegistryView } from '../store/registry-view.ts'

// What the mode of a subject, or else of its context or of the registry, allows.

/** Modes in which schemas are registered with the IDs of another registry. */
export function isImporting(mode: Mode): boolean {
  return mode === 'IMPORT' || mode === 'FORWARD'
}

/** Throws `not_permitted` if the scope is in a read-only mode. */
export function checkWritable(view: RegistryView, subject: Subject | null, defaults: Defaults): void {
  if (isReadOnly(modeInScope(view, subject, defaults))) throw wrongMode(subject, 'in read-only mode')
}

/**
 * Throws `not_permitted` if a schema may not be registered in this mode. Only imports set the ID; `id` is -1 if the
 * registry assigns it.
 */
export function checkRegisterable(mode: Mode, subject: Subject, id: number): void {
  if (isReadOnly(mode)) throw wrongMode(subject, 'in read-only mode')
  if (id >= 0 && !isImporting(mode)) throw wrongMode(subject, 'not in import mode')
  if (id < 0 && isImporting(mode)) throw wrongMode(subject, 'not in read-write mode')
}

/** Throws `not_permitted` if the configuration of the registry forbids changes of modes. */
export function checkModeMutable(modesMutable: boolean): void {
  if (!modesMutable) throw notPermitted('Mode changes are not allowed')
}

function isReadOnly(mode: Mode): boolean {
  return mode === 'READONLY' || mode === 'READONLY_OVERRIDE'
}

function wrongMode(subject: Subject | null, what: string): Error {
  return notPermitted(`Subject ${subject} in context ${subject === null ? '.' : contextOf(subject)} is ${what}`)
}
