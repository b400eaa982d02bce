import { contextOf } from '../../formats/qualified-subject.ts'
import { notPermitted, RegistryError } from '../model/registry-error.ts'
import type { SchemaContent } from '../model/schema.ts'
import type { Subject } from '../model/subject.ts'
import type { RegistryView } from '../store/registry-state.ts'

const ID_MAX = 2 ** 31 - 1

/**
 * The ID of a schema that is registered: that of the same content in the subject's context, else the next one.
 * `requested` is the ID of an import, or -1. Throws `not_permitted` if another schema has the requested ID, and
 * `store_failed` if no ID is left.
 */
export function assignSchemaId(
  view: RegistryView,
  subject: Subject,
  content: SchemaContent,
  requested: number,
): number {
  const context = contextOf(subject)
  const known = view.idOf(context, content.guid)
  if (requested < 0 && known !== undefined) return known
  if (requested >= 0) {
    const holder = view.holders(context, requested)[0]
    if (holder && (holder.content.guid !== content.guid || holder.content.type !== content.type)) {
      throw notPermitted(`Overwrite new schema with id ${requested} in context ${context} is not permitted.`)
    }
    return requested
  }
  const next = view.idMax(context) + 1
  if (next <= ID_MAX) return next
  throw new RegistryError(
    'store_failed',
    `Error while registering the schema: the largest ID, ${ID_MAX}, is already assigned`,
  )
}
