import { changeTags, entityKey, type SchemaEntity, type SchemaTags, type TagChange } from '../tags.ts'
import type { Message, Option, OptionValue, ProtoField, ProtoFile, TypeElement } from './proto-file.ts'

/** A message or a field. For a field in a oneof, `otherPath` is the path that includes the name of the oneof. */
type Taggable = SchemaEntity & { readonly otherPath?: string; readonly element: Message | ProtoField }

const META = { sr_record: 'confluent.message_meta', sr_field: 'confluent.field_meta' } as const

/** Returns the tags of messages and fields. Paths do not include the package. */
export function protoTags({ types }: ProtoFile): readonly SchemaTags[] {
  return [...entities(types)].flatMap(({ entityPath, entityType, element }) => {
    const tags = wordsIn(confluentMetaOf(element.options, META[entityType]).get('tags'))
    return tags.length === 0 ? [] : [{ schemaEntity: { entityPath, entityType }, tags }]
  })
}

/**
 * Returns the file with changed tags. The meta statements of a changed element are merged into one. Throws a
 * `SchemaError` for a path that does not exist.
 */
export function tagProto(file: ProtoFile, change: TagChange): ProtoFile {
  const carriers = new Map<string, Taggable>()
  for (const taggable of entities(file.types)) {
    const { entityType, entityPath, otherPath = entityPath } = taggable
    for (const path of [entityPath, otherPath]) carriers.set(entityKey({ entityPath: path, entityType }), taggable)
  }
  const optionsOf = new Map<Message | ProtoField, readonly Option[]>()
  changeTags(change, carriers, ({ element, entityType }, tagsAfter) => {
    optionsOf.set(element, retagged(element.options, META[entityType], tagsAfter))
  })
  const withOptions = <Element extends Message | ProtoField>(element: Element): Element => {
    const options = optionsOf.get(element)
    return options ? { ...element, options } : element
  }
  const within = (message: Message): Message => ({
    ...withOptions(message),
    fields: message.fields.map(withOptions),
    oneofs: message.oneofs.map((oneof) => ({ ...oneof, fields: oneof.fields.map(withOptions) })),
    types: message.types.map(retyped),
  })
  const retyped = (type: TypeElement): TypeElement => (type.kind === 'message' ? within(type) : type)
  return { ...file, types: file.types.map(retyped) }
}

function* entities(types: readonly TypeElement[], scope = ''): Generator<Taggable> {
  for (const type of types) {
    if (type.kind !== 'message') continue
    const path = `${scope}${type.name}`
    yield { entityPath: path, entityType: 'sr_record', element: type }
    for (const { name: oneof, fields } of type.oneofs) {
      for (const element of fields) {
        const otherPath = `${path}.${oneof}.${element.name}`
        yield { entityPath: `${path}.${element.name}`, otherPath, entityType: 'sr_field', element }
      }
    }
    for (const element of type.fields) {
      yield { entityPath: `${path}.${element.name}`, entityType: 'sr_field', element }
    }
    yield* entities(type.types, `${path}.`)
  }
}

function retagged(
  options: readonly Option[],
  name: string,
  tagsAfter: (tags: readonly string[]) => readonly string[],
): readonly Option[] {
  const entries = new Map(confluentMetaOf(options, name))
  const tags = tagsAfter(wordsIn(entries.get('tags')))
  if (tags.length === 0) entries.delete('tags')
  else entries.set('tags', { kind: 'list', items: tags.map((text) => ({ kind: 'string', text })) })
  const others = options.filter((option) => !isMeta(option, name))
  if (entries.size === 0) return others
  return [...others, { name, parenthesized: true, value: { kind: 'map', entries } }]
}

/** Merges the options of this name: `(x).tags = "A"` is the same as `(x) = {tags: ["A"]}`, and values are combined. */
export function confluentMetaOf(options: readonly Option[], name: string): ReadonlyMap<string, OptionValue> {
  const merged = new Map<string, OptionValue>()
  for (const { value } of options.filter((option) => isMeta(option, name))) {
    const entries = value.kind === 'option' ? [[value.option.name, value.option.value] as const] : mapEntries(value)
    for (const [key, next] of entries) {
      const before = merged.get(key)
      merged.set(key, before ? { kind: 'list', items: [...itemsOf(before), ...itemsOf(next)] } : next)
    }
  }
  return merged
}

function isMeta(option: Option, name: string): boolean {
  return option.parenthesized && option.name.replace(/^\./, '') === name
}

function mapEntries(value: OptionValue): Iterable<readonly [string, OptionValue]> {
  return value.kind === 'map' ? value.entries : []
}

function itemsOf(value: OptionValue): readonly OptionValue[] {
  return value.kind === 'list' ? value.items : [value]
}

function wordsIn(value: OptionValue | undefined): readonly string[] {
  return [...new Set(value ? itemsOf(value).flatMap((item) => (item.kind === 'string' ? [item.text] : [])) : [])]
}
