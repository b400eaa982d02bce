import { isObject, type Json, type JsonObject, parseJson, printJson } from '../json-text.ts'
import { changeTagsIn, pathOf, type SchemaEntity, type TagChange, type TaggableNode } from '../tags.ts'
import { NESTING_MAX } from './printer.ts'
import { avroName } from './schema.ts'

/** Every record and every field of a canonical text. */
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

/** A canonical text with other tags. A path without a namespace means a record in any. */
export function tagAvro(canonical: string, change: TagChange): string {
  const root = parseJson(canonical, { depthMax: NESTING_MAX })
  const entities = [...avroEntities(root)]
  changeTagsIn(change, (entity) => {
    const path = pathOf(entity)
    const dots = entity.entityType === 'sr_record' ? 0 : 1
    const isBare = path.split('.').length === dots + 1
    const matches = ({ entityPath }: SchemaEntity) => entityPath === path || (isBare && entityPath.endsWith(`.${path}`))
    return entities.find((one) => one.entityType === entity.entityType && matches(one))?.node
  })
  return printJson(root)
}
