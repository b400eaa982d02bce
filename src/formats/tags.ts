import type { Json, JsonObject } from './json-text.ts'
import { SchemaError } from './schema-error.ts'

/** A record or a field in a schema, such as `ns.Record` or `ns.Record.field`. A leading dot is ignored. */
export type SchemaEntity = { readonly entityPath: string; readonly entityType: 'sr_record' | 'sr_field' }
/** The inline tags of a record or a field. */
export type SchemaTags = { readonly schemaEntity: SchemaEntity; readonly tags: readonly string[] }
/** Tags are added first and then removed, so a tag in both lists is removed. */
export type TagChange = {
  readonly add: readonly SchemaTags[]
  readonly remove: readonly SchemaTags[]
  /** Ignores entities that do not exist in the schema, instead of throwing. */
  readonly ignoreMissing?: boolean
}

/** A node of a JSON document that can have tags. */
export type TaggableNode = SchemaEntity & { readonly node: JsonObject }

/** The member of Avro and JSON schemas that holds tags. */
const MEMBER = 'confluent:tags'

/**
 * Calls `retag` for every carrier that the change affects. `carriers` are the elements that can have tags, by
 * `entityKey`. Throws a `SchemaError` for an entity that does not exist, unless `ignoreMissing` is set.
 */
export function changeTags<Carrier>(
  { add, remove, ignoreMissing = false }: TagChange,
  carriers: ReadonlyMap<string, Carrier>,
  retag: (carrier: Carrier, tagsAfter: (before: readonly string[]) => readonly string[]) => void,
): void {
  const changes = new Map<Carrier, { readonly add: Set<string>; readonly remove: Set<string> }>()
  const addChange = (kind: 'add' | 'remove', { schemaEntity, tags }: SchemaTags) => {
    const carrier = carriers.get(entityKey(schemaEntity))
    if (carrier === undefined) {
      if (ignoreMissing) return
      throw new SchemaError(`No matching path '${schemaEntity.entityPath}' found in the schema`)
    }
    const change = changes.get(carrier) ?? { add: new Set(), remove: new Set() }
    for (const tag of tags) change[kind].add(tag)
    changes.set(carrier, change)
  }
  for (const one of add) addChange('add', one)
  for (const one of remove) addChange('remove', one)
  for (const [carrier, change] of changes) {
    retag(carrier, (before) => [...new Set([...before, ...change.add])].filter((tag) => !change.remove.has(tag)))
  }
}

/** Returns the map key of an entity. It is equal for paths with and without a leading dot. */
export function entityKey({ entityPath, entityType }: SchemaEntity): string {
  return `${entityType} ${entityPath.replace(/^\./, '')}`
}

export function tagsIn(nodes: Iterable<TaggableNode>): readonly SchemaTags[] {
  return [...nodes].flatMap(({ entityPath, entityType, node }) => {
    const tags = tagsOf(node)
    return tags.length === 0 ? [] : [{ schemaEntity: { entityPath, entityType }, tags }]
  })
}

/** Changes the tags in place. The caller must own the tree. */
export function changeTagsIn(change: TagChange, nodes: ReadonlyMap<string, JsonObject>): void {
  changeTags(change, nodes, (carrier, tagsAfter) => {
    const node = carrier as Map<string, Json>
    const tags = tagsAfter(tagsOf(node))
    if (tags.length === 0) node.delete(MEMBER)
    else node.set(MEMBER, tags)
  })
}

function tagsOf(node: JsonObject): readonly string[] {
  const tags = node.get(MEMBER)
  return Array.isArray(tags) ? tags.map(String) : []
}
