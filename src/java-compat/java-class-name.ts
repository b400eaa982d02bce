import { isDecimal, LOGICAL, type Schema, type SchemaType } from '../sdk/index.ts'

/**
 * Returns the Java class name of a value, as used in Kafka Connect's messages. Numbers without a schema are `Long` or
 * `Double`.
 */
export function javaClass(value: unknown, schema: Schema | null): string {
  if (value === null || value === undefined) return 'null'
  if (value instanceof Date || schema?.name === LOGICAL.time) return 'java.util.Date'
  if (isDecimal(value)) return 'java.math.BigDecimal'
  return JAVA_CLASSES[schema?.type ?? inferType(value)]
}

/** The schema type of a value without a schema. */
export function inferType(value: unknown): SchemaType {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int64' : 'float64'
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value as 'string' | 'boolean'
  if (value instanceof Uint8Array) return 'bytes'
  return Array.isArray(value) ? 'array' : 'map'
}

const JAVA_CLASSES: Readonly<Record<SchemaType, string>> = {
  int8: 'java.lang.Byte',
  int16: 'java.lang.Short',
  int32: 'java.lang.Integer',
  int64: 'java.lang.Long',
  float32: 'java.lang.Float',
  float64: 'java.lang.Double',
  boolean: 'java.lang.Boolean',
  string: 'java.lang.String',
  bytes: '[B',
  array: 'java.util.ArrayList',
  map: 'java.util.HashMap',
  struct: 'org.apache.kafka.connect.data.Struct',
}
