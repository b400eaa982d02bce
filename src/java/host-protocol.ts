import type { Schema } from '../sdk/index.ts'

// Values of Connect data as they cross the boundary to a Java host. Every value carries a tag of its Java type; lengths
// and ids are unsigned LEB128, numbers are big-endian. `java/host` implements the other side.

export const VALUE_TAG = {
  null: 0,
  true: 1,
  false: 2,
  int8: 3,
  int16: 4,
  int32: 5,
  int64: 6,
  float32: 7,
  float64: 8,
  string: 9,
  bytes: 10,
  byteBuffer: 11,
  decimal: 12,
  date: 13,
  list: 14,
  map: 15,
  struct: 16,
} as const

/** Schemas of received structs inside schemaless data, so that they are sent back with their schema. */
export const structSchemas = new WeakMap<object, Schema>()

/** A frame is damaged or violates the protocol; the connection is closed. */
export class ProtocolError extends Error {}
