import { defineMember } from '../define-member.ts'
import {
  type FieldContext,
  type FieldMask,
  type FieldTransform,
  type FieldType,
  MASKED_VALUE,
} from '../field-transform.ts'
import type { Json } from '../json-text.ts'
import { type AvroRecord, type AvroSchema, type AvroUnion, branchName } from './avro-schema.ts'
import { hasDistinctShapes, shapeOf, shapeOfValue } from './union-form.ts'

/**
 * Returns a copy of a value with its fields transformed. Values have the form of `avroCodec` with `unions: 'plain'`.
 * Parts that do not match the schema are unchanged; the codec reports them.
 */
export function transformAvroFields(
  schema: AvroSchema,
  value: unknown,
  transform: FieldTransform,
  masks?: FieldMask,
): unknown {
  return transformIn(schema, value, undefined, { transform, masks })
}

type Visitor = { readonly transform: FieldTransform; readonly masks: FieldMask | undefined }

function transformIn(schema: AvroSchema, value: unknown, field: FieldContext | undefined, visitor: Visitor): unknown {
  if (value === null || value === undefined) return value
  const inside = (inner: AvroSchema, item: unknown) => transformIn(inner, item, field, visitor)
  switch (schema.type) {
    case 'record':
      if (visitor.masks?.({ fullName: schema.name.full, tags: tagsOf(schema.props.get('confluent:tags')) }))
        return MASKED_VALUE
      return typeof value === 'object' ? transformRecord(schema, value, visitor) : value
    case 'array':
      return Array.isArray(value) ? value.map((item) => inside(schema.items, item)) : value
    case 'map':
      return typeof value === 'object' ? mapValues(value, (item) => inside(schema.values, item)) : value
    case 'union':
      return transformUnion(schema, value, inside)
    default:
      return field === undefined ? value : visitor.transform(field, FIELD_TYPES[schema.type], value)
  }
}

function transformRecord(schema: AvroRecord, record: object, visitor: Visitor): object {
  const copy: Record<string, unknown> = {}
  for (const { name, schema: inner, props } of schema.fields) {
    if (!(name in record)) continue
    const field = { fullName: `${schema.name.full}.${name}`, tags: tagsOf(props.get('confluent:tags')) }
    const value = (record as Record<string, unknown>)[name]
    defineMember(copy, name, visitor.masks?.(field) ? MASKED_VALUE : transformIn(inner, value, field, visitor))
  }
  return copy
}

function mapValues(map: object, change: (value: unknown) => unknown): object {
  const copy: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(map)) defineMember(copy, key, change(value))
  return copy
}

/** If two branches have the same shape in JavaScript, values of the union have the form `{ branch: value }`. */
function transformUnion(
  union: AvroUnion,
  value: NonNullable<unknown>,
  inside: (schema: AvroSchema, value: unknown) => unknown,
): unknown {
  const { branches } = union
  if (hasDistinctShapes(union)) {
    const shape = shapeOfValue(value)
    const branch = branches.find((one) => shapeOf(one) === shape)
    return branch === undefined ? value : inside(branch, value)
  }
  const [name, ...others] = typeof value === 'object' ? Object.keys(value) : []
  const branch = branches.find((one) => branchName(one) === name)
  if (branch === undefined || name === undefined || others.length > 0) return value
  return { [name]: inside(branch, (value as Record<string, unknown>)[name]) }
}

const FIELD_TYPES = {
  null: 'NULL',
  boolean: 'BOOLEAN',
  int: 'INT',
  long: 'LONG',
  float: 'FLOAT',
  double: 'DOUBLE',
  bytes: 'BYTES',
  string: 'STRING',
  enum: 'ENUM',
  fixed: 'FIXED',
} as const satisfies Record<string, FieldType>

function tagsOf(tags: Json | undefined): readonly string[] {
  return Array.isArray(tags) ? tags.map(String) : []
}
