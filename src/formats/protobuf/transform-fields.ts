import {
  clearField,
  clone,
  create,
  type DescField,
  type DescMessage,
  isFieldSet,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf'
import { defineMember } from '../define-member.ts'
import {
  type FieldContext,
  type FieldMask,
  type FieldTransform,
  type FieldType,
  MASKED_VALUE,
} from '../field-transform.ts'
import { SchemaError } from '../schema-error.ts'

/** A message with its fields by their JavaScript names. */
type Members = Message & Record<string, unknown>
type OneofValue = { readonly case?: string; readonly value?: unknown } | undefined

/**
 * Returns a copy of a message with its fields transformed. `tags` are the tags by full name of fields and messages. Throws a
 * `SchemaError` if the value does not match the schema.
 */
export function transformProtobufFields(
  descriptor: DescMessage,
  value: unknown,
  tags: ReadonlyMap<string, readonly string[]>,
  transform: FieldTransform,
  masks?: FieldMask,
): unknown {
  // A message has no place for a mask of its own.
  if (masks?.(contextOf(descriptor, tags))) throw new SchemaError(`${descriptor.typeName} is masked as a whole`)
  const copy = copyOf(descriptor, value) as Members
  transformMessage(descriptor, copy, { tags, transform, masks })
  return copy
}

function copyOf(descriptor: DescMessage, value: unknown): Message {
  try {
    return clone(descriptor, create(descriptor, value as Message))
  } catch (error) {
    throw new SchemaError(`the value is not valid for its schema: ${(error as Error).message}`, { cause: error })
  }
}

function contextOf({ typeName }: DescMessage, tags: Visitor['tags']): FieldContext {
  return { fullName: typeName, tags: tags.get(typeName) ?? [] }
}

type Visitor = {
  readonly tags: ReadonlyMap<string, readonly string[]>
  readonly transform: FieldTransform
  readonly masks: FieldMask | undefined
}

/** Its content is not decoded, so masked fields in it are not found. */
const ANY = 'google.protobuf.Any'

function isMasked(field: DescField, context: FieldContext, { masks, tags }: Visitor): boolean {
  if (masks === undefined) return false
  if (masks(context)) return true
  return field.message !== undefined && (field.message.typeName === ANY || masks(contextOf(field.message, tags)))
}

function transformMessage(descriptor: DescMessage, message: Members, visitor: Visitor): void {
  // They can be extensions, which the JSON of a message contains.
  if (visitor.masks) delete message.$unknown
  for (const field of descriptor.fields) {
    const fullName = `${descriptor.typeName}.${field.name}`
    const context = { fullName, tags: visitor.tags.get(fullName) ?? [] }
    const change = (value: unknown) => transformValue(field, context, value, visitor)
    if (isMasked(field, context, visitor)) {
      mask(message, field)
      continue
    }
    if (field.oneof === undefined) {
      const value = message[field.localName]
      if (value !== undefined) defineMember(message, field.localName, change(value))
    } else {
      const oneof = message[field.oneof.localName] as OneofValue
      if (oneof?.case === field.localName) {
        defineMember(message, field.oneof.localName, { case: field.localName, value: change(oneof.value) })
      }
    }
  }
}

/** The message stays valid for its schema. */
function mask(message: Members, field: DescField): void {
  const isString = field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING
  const isSet = isFieldSet(message, field)
  clearField(message, field)
  if (!isString || !isSet) return
  if (field.oneof === undefined) defineMember(message, field.localName, MASKED_VALUE)
  else defineMember(message, field.oneof.localName, { case: field.localName, value: MASKED_VALUE })
}

function transformValue(field: DescField, context: FieldContext, value: unknown, visitor: Visitor): unknown {
  const change = (item: unknown) => {
    if (!field.message || !isMessage(item)) return visitor.transform(context, typeOf(field), item)
    transformMessage(field.message, item, visitor)
    return item
  }
  if (field.fieldKind === 'list') return (value as readonly unknown[]).map(change)
  if (field.fieldKind === 'map') {
    const entries = Object.entries(value as object)
    if (field.mapKind === 'message') return Object.fromEntries(entries.map(([key, item]) => [key, change(item)]))
    return entries.length === 0 ? value : visitor.transform(context, 'MAP', value)
  }
  return change(value)
}

/** False for `Struct` and wrappers such as `StringValue`, which are plain values in JavaScript and not messages. */
function isMessage(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && '$typeName' in value
}

function typeOf(field: DescField): FieldType {
  if (field.message) return 'RECORD'
  if (field.enum) return 'ENUM'
  return field.scalar === undefined ? 'NULL' : SCALARS[field.scalar]
}

const SCALARS: Readonly<Record<ScalarType, FieldType>> = {
  [ScalarType.STRING]: 'STRING',
  [ScalarType.BYTES]: 'BYTES',
  [ScalarType.BOOL]: 'BOOLEAN',
  [ScalarType.DOUBLE]: 'DOUBLE',
  [ScalarType.FLOAT]: 'FLOAT',
  [ScalarType.INT32]: 'INT',
  [ScalarType.SINT32]: 'INT',
  [ScalarType.UINT32]: 'INT',
  [ScalarType.FIXED32]: 'INT',
  [ScalarType.SFIXED32]: 'INT',
  [ScalarType.INT64]: 'LONG',
  [ScalarType.SINT64]: 'LONG',
  [ScalarType.UINT64]: 'LONG',
  [ScalarType.FIXED64]: 'LONG',
  [ScalarType.SFIXED64]: 'LONG',
}
