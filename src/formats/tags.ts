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
 * Gives everything that a change is about its tags: `carriers` are what may carry tags, by `entityKey`. Throws a
 * `SchemaError` for an entity that is not there.
 */
export function changeTags<Carrier>(
  { add, remove, ifThere = false }: TagChange,
  carriers: ReadonlyMap<string, Carrier>,
  retag: (carrier: Carrier, tagsAfter: (before: readonly string[]) => readonly string[]) => void,
): void {
  const changes = new Map<Carrier, { readonly add: Set<string>; readonly remove: Set<string> }>()
  const note = (kind: 'add' | 'remove', { schemaEntity, tags }: SchemaTags) => {
    const carrier = carriers.get(entityKey(schemaEntity))
    if (carrier === undefined) {
      if (ifThere) return
      throw new SchemaError(`No matching path '${schemaEntity.entityPath}' found in the schema`)
    }
    const change = changes.get(carrier) ?? { add: new Set(), remove: new Set() }
    for (const tag of tags) change[kind].add(tag)
    changes.set(carrier, change)
  }
  for (const one of add) note('add', one)
  for (const one of remove) note('remove', one)
  for (const [carrier, change] of changes) {
    retag(carrier, (before) => [...new Set([...before, ...change.add])].filter((tag) => !change.remove.has(tag)))
  }
}

/** The same for paths that mean the same. */
export function entityKey({ entityPath, entityType }: SchemaEntity): string {
  return `${entityType} ${entityPath.replace(/^\./, '')}`
}

export function tagsIn(nodes: Iterable<TaggableNode>): readonly SchemaTags[] {
  return [...nodes].flatMap(({ entityPath, entityType, node }) => {
    const tags = wordsIn(node)
    return tags.length === 0 ? [] : [{ schemaEntity: { entityPath, entityType }, tags }]
  })
}

/** Changes the tags of a tree that nobody else holds. */
export function changeTagsIn(change: TagChange, nodes: ReadonlyMap<string, JsonObject>): void {
  changeTags(change, nodes, (carrier, tagsAfter) => {
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
