import type { ReferenceDraft } from './drafts.ts'
import type { SourceObject } from './source-object.ts'

/** A reference with the fields of the registry's REST API, of which other systems rename `subject`. */
export function readReference(reference: SourceObject, subjectField = 'subject'): readonly ReferenceDraft[] {
  const name = reference.requiredText('name')
  const subject = reference.requiredText(subjectField)
  const version = reference.integer('version')
  if (name === undefined || subject === undefined) return []
  return [{ name, subject, version, origin: { document: reference.document, path: reference.path } }]
}
