import { BYTES, type Schema, STRING } from '../../../../sdk/index.ts'
import type { BinaryMode } from './value-modes.ts'

/** The representation of a column type in events. */
export type ValueType = {
  /** Not optional: whether a column is optional depends on the table. */
  readonly schema: Schema
  /** Converts a value from the text format of the database. Null for a value that the schema cannot represent. */
  readonly decode: (text: string) => unknown
  /** Whether some values are converted to null. A column that is not optional cannot have them. */
  readonly isPartial?: boolean
  /** Whether items of arrays of this type must not be NULL, as in Debezium's schemas. An array with a NULL becomes null. */
  readonly isRequiredItem?: boolean
  /** What stands for NULL where the schema is not optional, if it is not what `zeroValue` returns for the schema. */
  readonly zero?: unknown
  /** What stands for a value that the server did not send, if it is not what `unavailableValue` returns for the schema. */
  readonly unavailable?: (placeholder: string) => unknown
}

export const TEXT_TYPE: ValueType = { schema: STRING, decode: (text) => text }

/** A type of Debezium: a schema with its name and version 1. */
export function named(name: string, { schema, decode }: ValueType, parameters?: Schema['parameters']): ValueType {
  const { type } = schema
  return { schema: { ...schema, type, name, version: 1, ...(parameters !== undefined && { parameters }) }, decode }
}

/** The representation of bytes in events. */
export type BytesType = { readonly schema: Schema; readonly encode: (bytes: Buffer) => unknown }

export function bytesType(mode: BinaryMode): BytesType {
  switch (mode) {
    case 'bytes':
      return { schema: BYTES, encode: (bytes) => bytes }
    case 'base64':
      return { schema: STRING, encode: (bytes) => bytes.toString('base64') }
    case 'base64-url-safe':
      return { schema: STRING, encode: base64Url }
    case 'hex':
      return { schema: STRING, encode: (bytes) => bytes.toString('hex') }
  }
}

/** The representation of bytes that `toBytes` makes of the text. */
export function binaryType(mode: BinaryMode, toBytes: (text: string) => Buffer): ValueType {
  const { schema, encode } = bytesType(mode)
  return { schema, decode: mode === 'bytes' ? toBytes : (text) => encode(toBytes(text)) }
}

/** With padding, unlike Node.js. */
function base64Url(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_')
}
