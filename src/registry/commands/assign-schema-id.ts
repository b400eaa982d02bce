import { contextOf } from '../../formats/qualified-subject.ts'
import { notPermitted, RegistryError } from '../model/registry-error.ts'
import type { SchemaContent } from '../model/schema.ts'
import type { Subject } from '../model/subject.ts'
import type { RegistryView } from '../store/registry-view.ts'

const ID_MAX = 2 ** 31 - 1

/**
 * The ID of a schema that is registered: that of the same content in the subject's context, else the next one.
 * `requested` is the ID of an import, or -1. Throws `not_permitted` if another schema has the ID, also if only the types
 * differ, and `store_failed` if no ID is left.
 */
export function assignSchemaId(
  view: RegistryView,
  subject: Subject,
  content: SchemaContent,
  requested: number,
): number {
  const context = contextOf(subject)
  const id = requested < 0 ? view.idOf(context, content.guid) : requested
  if (id !== undefined) {
    let isFree = true
    for (const { content: held } of view.holders(context, id)) {
      if (held.guid === content.guid && held.type === content.type) return id
      isFree = false
    }
    if (!isFree) {
      throw notPermitted(`Overwrite new schema with id ${id} in context ${context} is not permitted.`)
    }
    return id
  }
  const next = view.idMax(context) + 1
  if (next <= ID_MAX) return next
  throw new RegistryError(
    'store_failed',
    `Error while registering the schema: the largest ID, ${ID_MAX}, is already assigned`,
  )
}
