import type { AvroSchema } from '../../formats/avro/schema.ts'
import type { Schema } from '../../sdk/index.ts'
import { SHARED } from '../shared-names.ts'

// The names under which Confluent's converter keeps in Avro what only Connect knows, and the other way round.

const SPACE = 'io.confluent.connect.avro'

export const DEFAULT_RECORD_NAME = `${SPACE}.ConnectDefault`
export const MAP_ENTRY = 'MapEntry'
export const MAP_ENTRY_NAME = `${SPACE}.${MAP_ENTRY}`
/** A struct of this name is a union: at most one of its fields has a value. */
export const AVRO_UNION = `${SPACE}.Union`
/** Parameter of a string schema: full name of the enum; with `.SYMBOL` behind it: one symbol. */
export const AVRO_ENUM = `${SPACE}.Enum`
export const ENUM_DOC = `${SPACE}.enum.doc.`
export const ENUM_DEFAULT = `${SPACE}.enum.default.`
export const RECORD_DOC = `${SPACE}.record.doc`
export const FIELD_DOC = `${SPACE}.field.doc.`
/** Parameter that marks a default which came from an Avro field, not from Connect. */
export const FIELD_DEFAULT = `${SPACE}.field.default`

/** Parameters for documentation where that of types is discarded. */
export const RECORD_DOC_KEPT = 'connect.record.doc'
export const ENUM_DOC_KEPT = 'connect.enum.doc'

/** Parameter of a Decimal schema. */
export const AVRO_PRECISION = 'connect.decimal.precision'
export const PRECISION_DEFAULT = 64

/** Parameter of bytes that are an Avro fixed of that name. */
export const FIXED_SIZE = 'connect.fixed.size'

/** Members of Avro schemas. */
export const AVRO_PROP = {
  doc: 'connect.doc',
  version: 'connect.version',
  parameters: 'connect.parameters',
  default: 'connect.default',
  name: 'connect.name',
  type: 'connect.type',
  internalType: 'connect.internal.type',
} as const

/** The field of a union's struct that holds the values of one branch. */
export function unionFieldName(branch: AvroSchema, full = false): string {
  if (!('name' in branch)) return branch.type
  return full ? branch.name.full : branch.name.simple
}

export function isUnion({ name, parameters }: Schema): boolean {
  return name === AVRO_UNION || parameters?.[SHARED.union] !== undefined
}

/** The parameter by which a string is an enum's, where one says so. */
export function enumParameter({ parameters = {} }: Schema, shared = false): typeof SHARED.enum | typeof AVRO_ENUM {
  return shared && parameters[SHARED.enum] !== undefined ? SHARED.enum : AVRO_ENUM
}

/** As Java percent-encodes it, with an underscore for all that Avro has no place for; names may have dots. */
export function scrubbed(name: string): string {
  return name.split('.').map(scrubbedPart).join('.')
}

export function scrubbedPart(name: string): string {
  const encoded = name.replace(/[^A-Za-z0-9_]/gu, (character) =>
    /[ .*-]/.test(character) ? '_' : Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '_$&'),
  )
  return /^\d/.test(encoded) ? `x${encoded}` : encoded
}

export function isMapEntry(schema: AvroSchema): boolean {
  if (schema.type !== 'record') return false
  return schema.name.full === MAP_ENTRY_NAME || schema.props.get(AVRO_PROP.internalType) === MAP_ENTRY
}
