import { SchemaError } from './format.ts'
import type { Json, JsonObject } from './json-text.ts'

/** A record or a field inside a schema: `ns.Record`, `ns.Record.field`. A dot before the path changes nothing. */
export type SchemaEntity = { readonly entityPath: string; readonly entityType: 'sr_record' | 'sr_field' }
/** Words that users attach to a record or a field, in the schema itself. */
export type SchemaTags = { readonly schemaEntity: SchemaEntity; readonly tags: readonly string[] }
/** What is added comes first, so that what is in both goes. */
export type TagChange = {
  readonly add: readonly SchemaTags[]
  readonly remove: readonly SchemaTags[]
  /** Leaves out entities that the schema has not, instead of refusing them. */
  readonly ifThere?: boolean
}

/** A part of a JSON text that may carry tags. */
export type TaggableNode = SchemaEntity & { readonly node: JsonObject }

/** The member of Avro and JSON schemas that holds tags. */
const MEMBER = 'confluent:tags'

/**
 * Goes through the entities of a change: `find` gives what carries an entity's tags, `retag` replaces them. Throws a
 * `SchemaError` for an entity that is not there.
 */
export function changeTags<Carrier>(
  { add, remove, ifThere = false }: TagChange,
  find: (entity: SchemaEntity) => Carrier | undefined,
  retag: (carrier: Carrier, tagsAfter: TagsAfter) => void,
): void {
  const each = ({ schemaEntity }: SchemaTags, tagsAfter: TagsAfter) => {
    const carrier = find(schemaEntity)
    if (carrier !== undefined) retag(carrier, tagsAfter)
    else if (!ifThere) throw new SchemaError(`No matching path '${schemaEntity.entityPath}' found in the schema`)
  }
  for (const one of add) each(one, (before) => [...new Set([...before, ...one.tags])])
  for (const one of remove) each(one, (before) => before.filter((tag) => !one.tags.includes(tag)))
}

type TagsAfter = (before: readonly string[]) => readonly string[]

/** Without the dot before it. */
export function pathOf({ entityPath }: SchemaEntity): string {
  return entityPath.replace(/^\./, '')
}

export function tagsIn(nodes: Iterable<TaggableNode>): readonly SchemaTags[] {
  return [...nodes].flatMap(({ entityPath, entityType, node }) => {
    const tags = wordsIn(node)
    return tags.length === 0 ? [] : [{ schemaEntity: { entityPath, entityType }, tags }]
  })
}

/** Changes the tags of a tree that nobody else holds. */
export function changeTagsIn(change: TagChange, find: (entity: SchemaEntity) => JsonObject | undefined): void {
  changeTags(change, find, (carrier, tagsAfter) => {
    const node = carrier as Map<string, Json>
    const tags = tagsAfter(wordsIn(node))
    if (tags.length === 0) node.delete(MEMBER)
    else node.set(MEMBER, tags)
  })
}

function wordsIn(node: JsonObject): readonly string[] {
  const tags = node.get(MEMBER)
  return Array.isArray(tags) ? tags.map(String) : []
}
