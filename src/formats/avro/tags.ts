import { isObject, type Json, type JsonObject, parseJson, printJson } from '../json-text.ts'
import { changeTagsIn, entityKey, type TagChange, type TaggableNode } from '../tags.ts'
import { avroName } from './avro-schema.ts'
import { NESTING_MAX } from './printer.ts'

/** Yields every record and every field of a canonical text. */
export function* avroEntities(node: Json | undefined, space = ''): Generator<TaggableNode> {
  if (Array.isArray(node)) for (const branch of node as readonly Json[]) yield* avroEntities(branch, space)
  if (!isObject(node)) return
  const type = node.get('type')
  if (type === 'array') yield* avroEntities(node.get('items'), space)
  else if (type === 'map') yield* avroEntities(node.get('values'), space)
  else if (type === 'record' || type === 'error') yield* recordEntities(node, space)
  else if (typeof type === 'object') yield* avroEntities(type, space)
}

function* recordEntities(node: JsonObject, space: string): Generator<TaggableNode> {
  const record = avroName(String(node.get('name')), String(node.get('namespace') ?? space))
  yield { entityPath: record.full, entityType: 'sr_record', node }
  for (const field of node.get('fields') as readonly JsonObject[]) {
    yield { entityPath: `${record.full}.${String(field.get('name'))}`, entityType: 'sr_field', node: field }
    yield* avroEntities(field.get('type'), record.space)
  }
}

/**
 * Returns the canonical text with changed tags. A path without a namespace matches the first record of that name.
 * Throws a `SchemaError` for a path that does not exist.
 */
export function tagAvro(canonical: string, change: TagChange): string {
  const root = parseJson(canonical, { depthMax: NESTING_MAX })
  const nodes = new Map<string, JsonObject>()
  const entities = [...avroEntities(root)]
  for (const entity of entities) nodes.set(entityKey(entity), entity.node)
  for (const { entityPath, entityType, node } of entities) {
    const key = entityKey({
      entityPath: entityPath
        .split('.')
        .slice(entityType === 'sr_record' ? -1 : -2)
        .join('.'),
      entityType,
    })
    if (!nodes.has(key)) nodes.set(key, node)
  }
  changeTagsIn(change, nodes)
  return printJson(root)
}
