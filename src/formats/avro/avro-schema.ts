import type { Json } from '../json-text.ts'

/** An Avro schema with resolved names. Each named type is one object, so a recursive schema contains itself. */
export type AvroSchema = AvroPrimitive | AvroArray | AvroMap | AvroUnion | AvroNamed
export type AvroNamed = AvroRecord | AvroEnum | AvroFixed

export const PRIMITIVES = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'] as const
export type PrimitiveType = (typeof PRIMITIVES)[number]

/** Members that are not part of the type's definition, such as `logicalType`, in their order. */
export type Props = ReadonlyMap<string, Json>

export type AvroPrimitive = { readonly type: PrimitiveType; readonly props: Props }
export type AvroArray = { readonly type: 'array'; readonly items: AvroSchema; readonly props: Props }
export type AvroMap = { readonly type: 'map'; readonly values: AvroSchema; readonly props: Props }
export type AvroUnion = { readonly type: 'union'; readonly branches: readonly AvroSchema[] }

type Named = {
  readonly name: AvroName
  readonly doc: string | undefined
  readonly aliases: readonly AvroName[]
  readonly props: Props
}
export type AvroRecord = Named & {
  readonly type: 'record'
  readonly isError: boolean
  readonly fields: readonly AvroField[]
}
export type AvroEnum = Named & {
  readonly type: 'enum'
  readonly symbols: readonly string[]
  readonly default: string | undefined
}
export type AvroFixed = Named & { readonly type: 'fixed'; readonly size: number }

export type AvroField = {
  readonly name: string
  readonly schema: AvroSchema
  readonly doc: string | undefined
  /** Undefined if there is no default. A default of null is `null`. */
  readonly default: Json | undefined
  readonly order: 'ascending' | 'descending' | 'ignore'
  readonly aliases: readonly string[]
  readonly props: Props
}

/** `space` is the namespace; empty if there is none. */
export type AvroName = { readonly simple: string; readonly space: string; readonly full: string }

/** Parses a name. A name with a dot contains its namespace; otherwise the namespace is `space`. */
export function avroName(name: string, space: string): AvroName {
  const dot = name.lastIndexOf('.')
  const simple = name.slice(dot + 1)
  const own = dot < 0 ? space : name.slice(0, dot)
  return { simple, space: own, full: own === '' ? simple : `${own}.${simple}` }
}

export function isPrimitive(name: string): name is PrimitiveType {
  return (PRIMITIVES as readonly string[]).includes(name)
}

export function isNamed(schema: AvroSchema): schema is AvroNamed {
  return schema.type === 'record' || schema.type === 'enum' || schema.type === 'fixed'
}

/** The name of a union branch: the full name of a named type, otherwise the type. It must be unique in the union. */
export function branchName(schema: AvroSchema): string {
  return isNamed(schema) ? schema.name.full : schema.type
}
