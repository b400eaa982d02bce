import { type AvroSchema, type AvroUnion, branchName } from './avro-schema.ts'

/**
 * The form of union values: `{ branch: value }`, or with `plain` only the value, unless two branches have the same shape in
 * JavaScript. A null is never wrapped.
 */
export type UnionForm = 'wrapped' | 'plain'

export type Shape = 'null' | 'boolean' | 'number' | 'string' | 'buffer' | 'array' | 'object' | 'union'

/** The JavaScript shape of a branch's values. */
export function shapeOf({ type }: AvroSchema): Shape {
  switch (type) {
    case 'int':
    case 'long':
    case 'float':
    case 'double':
      return 'number'
    case 'bytes':
    case 'fixed':
      return 'buffer'
    case 'enum':
      return 'string'
    case 'map':
    case 'record':
      return 'object'
    default:
      return type
  }
}

export function shapeOfValue(value: unknown): Shape {
  if (value === null) return 'null'
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return typeof value as Shape
  if (typeof value === 'bigint') return 'number'
  if (Array.isArray(value)) return 'array'
  return value instanceof Uint8Array ? 'buffer' : 'object'
}

export function hasDistinctShapes({ branches }: AvroUnion): boolean {
  return new Set(branches.map(shapeOf)).size === branches.length
}

/** Returns the function that converts a value of a branch to the form of its union; undefined if it stays as it is. */
export function branchWrapper(
  union: AvroUnion,
  branch: AvroSchema,
  form: UnionForm,
): ((value: unknown) => unknown) | undefined {
  if (branch.type === 'null' || (form === 'plain' && hasDistinctShapes(union))) return undefined
  const name = branchName(branch)
  return (value) => ({ [name]: value })
}
