import type { DescField, DescMessage, DescOneof, ScalarType } from '@bufbuild/protobuf'
import {
  bigintFromBytes,
  bigintToBytes,
  DATE,
  DataError,
  type Decimal,
  decimal,
  type Field,
  int64,
  LOGICAL,
  rescale,
  type Schema,
  TIME,
  TIMESTAMP,
  valueLabel,
} from '../../../sdk/index.ts'
import type { FieldMeta } from './meta.ts'
import { ENUM, MESSAGE, TAG, UNION } from './names.ts'

// Between messages, as @bufbuild/protobuf has them, and structs.

export type FromProtoOptions = {
  /** Whether structs and enums have their full names. */
  readonly fullNames: boolean
  /** Whether only fields that are `optional` may be null. */
  readonly optionals: boolean
  /** Whether fields that may be null are wrapped: others may not. */
  readonly wrappers: boolean
  /** Whether structs of oneofs have the number of the oneof in their names. */
  readonly unionIndexes: boolean
  /** Whether enums are their numbers instead of their words. */
  readonly enumsAsNumbers: boolean
  /** What fields say beyond their types, by their full names. */
  readonly metas: ReadonlyMap<string, FieldMeta>
}

/** A kind of value: what Connect says of it, and the way in both directions. Never called with null. */
type Kind = {
  readonly schema: Schema
  readonly read: (wire: unknown) => unknown
  readonly write: (value: unknown) => unknown
}
type Members = Readonly<Record<string, unknown>>

/** What a message is in Connect. Throws a `DataError` for messages that contain themselves. */
export function messageKind(
  message: DescMessage,
  options: FromProtoOptions,
  around: readonly DescMessage[] = [],
): Kind {
  if (around.includes(message))
    throw new DataError(`'${message.typeName}' contains itself, which Connect has no schema for`)
  const members = message.members.map((member) => memberKind(member, options, [...around, message]))
  return {
    schema: {
      type: 'struct',
      name: options.fullNames ? message.typeName : message.name,
      fields: members.map(({ field }) => field),
    },
    read: (wire) => Object.fromEntries(members.map(({ field, read }) => [field.name, read(wire as Members)])),
    write(value) {
      if (typeof value !== 'object' || value === null) throw misfit(value, message.typeName)
      const written = members.flatMap(({ field, local, write }) => {
        const one = (value as Members)[field.name] ?? null
        return one === null ? [] : [[local, write(one)] as const]
      })
      return Object.fromEntries(written)
    },
  }
}

type Member = {
  readonly field: Field
  /** As the library calls it. */
  readonly local: string
  readonly read: (message: Members) => unknown
  readonly write: (value: unknown) => unknown
}

function memberKind(member: DescField | DescOneof, options: FromProtoOptions, around: readonly DescMessage[]): Member {
  const local = member.localName
  if (member.kind === 'oneof') return oneofMember(member, options, around)
  const { schema, read, write } = fieldKind(member, options, around)
  const parameters = { ...schema.parameters, [TAG]: String(member.number) }
  return {
    field: {
      name: member.name,
      schema: { ...schema, ...(isNullable(member, options) && { optional: true }), parameters },
    },
    local,
    write,
    read: (message) => {
      const wire = message[local]
      return wire === undefined || wire === null ? null : read(wire)
    },
  }
}

function isNullable(field: DescField, { optionals, wrappers }: FromProtoOptions): boolean {
  if (field.fieldKind === 'list' || field.fieldKind === 'map') return !optionals && !wrappers
  if (field.fieldKind === 'message') return true
  return optionals ? field.proto.proto3Optional : !wrappers
}

/** One of several fields: a struct of them all, of which one is there. */
function oneofMember(oneof: DescOneof, options: FromProtoOptions, around: readonly DescMessage[]): Member {
  const place = oneof.parent.oneofs.indexOf(oneof)
  const kinds = oneof.fields.map((field) => ({ field, ...fieldKind(field, options, around) }))
  const fields = kinds.map(
    ({ field, schema }): Field => ({
      name: field.name,
      schema: { ...schema, optional: true, parameters: { ...schema.parameters, [TAG]: String(field.number) } },
    }),
  )
  return {
    field: {
      name: options.unionIndexes ? `${oneof.name}_${place}` : oneof.name,
      schema: { type: 'struct', name: `${UNION}.${oneof.name}`, optional: true, fields },
    },
    local: oneof.localName,
    read(message) {
      const chosen = message[oneof.localName] as { readonly case?: string; readonly value?: unknown } | undefined
      if (chosen?.case === undefined) return null
      return Object.fromEntries(
        kinds.map(({ field, read }) => [field.name, field.localName === chosen.case ? read(chosen.value) : null]),
      )
    },
    write(value) {
      const chosen = kinds.find(({ field }) => ((value as Members)[field.name] ?? null) !== null)
      if (chosen === undefined) return { case: undefined }
      return { case: chosen.field.localName, value: chosen.write((value as Members)[chosen.field.name]) }
    },
  }
}

function fieldKind(field: DescField, options: FromProtoOptions, around: readonly DescMessage[]): Kind {
  switch (field.fieldKind) {
    case 'list':
      return listKind(singleKind(field.listKind, field, options, around))
    case 'map':
      return mapKind(scalarKind(field.mapKey), singleKind(field.mapKind, field, options, around))
    default:
      return singleKind(field.fieldKind, field, options, around)
  }
}

function listKind(item: Kind): Kind {
  return {
    schema: { type: 'array', items: item.schema },
    read: (wire) => (wire as unknown[]).map(item.read),
    write: (value) => (Array.isArray(value) ? value.map((one) => item.write(one)) : refuse(value, 'an array')),
  }
}

/** The library has the keys of maps as texts. */
function mapKind(key: Kind, item: Kind): Kind {
  const keyOf = (text: string): unknown => {
    if (key.schema.type === 'string') return text
    if (key.schema.type === 'boolean') return text === 'true'
    return key.schema.type === 'int64' ? int64(BigInt(text)) : Number(text)
  }
  return {
    schema: { type: 'map', keys: key.schema, items: item.schema },
    read: (wire) => new Map(Object.entries(wire as object).map(([text, one]) => [keyOf(text), item.read(one)])),
    write: (value) =>
      value instanceof Map
        ? Object.fromEntries([...value].map(([one, held]) => [String(one), item.write(held)]))
        : refuse(value, 'a map'),
  }
}

function singleKind(
  kind: 'scalar' | 'enum' | 'message',
  field: DescField,
  options: FromProtoOptions,
  around: readonly DescMessage[],
): Kind {
  const { scalar, message, enum: words } = field as Partial<Pick<DescField, 'scalar' | 'enum' | 'message'>>
  const meta = options.metas.get(`${field.parent.typeName}.${field.name}`) ?? {}
  if (kind === 'message' && message !== undefined) {
    const wrapped = field.fieldKind === 'message' ? wrapperKind(message) : undefined
    if (message.typeName === MESSAGE.decimal) return decimalKind(Number(meta['scale'] ?? 0))
    return wrapped ?? LOGICAL_KINDS[message.typeName] ?? messageKind(message, options, around)
  }
  if (kind === 'enum') return enumKind(words!, options)
  const type = meta['connect.type']
  return type === 'int8' || type === 'int16' ? kindOf(type) : scalarKind(scalar as ScalarType)
}

/** The library has such fields as what is in them. */
function wrapperKind({ typeName, fields }: DescMessage): Kind | undefined {
  const [value] = fields
  if (!/^google\.protobuf\.\w+Value$/.test(typeName) || value?.scalar === undefined) return undefined
  return scalarKind(value.scalar)
}

function enumKind({ name, typeName, values }: NonNullable<DescField['enum']>, options: FromProtoOptions): Kind {
  if (options.enumsAsNumbers) return { schema: { type: 'int32' }, read: (wire) => wire, write: (value) => value }
  const words = new Map(values.map((value) => [value.number, value.name]))
  const numbers = new Map(values.map((value) => [value.name, value.number]))
  const parameters = values.map((value) => [`${ENUM}.${value.name}`, String(value.number)])
  return {
    schema: {
      type: 'string',
      parameters: { [ENUM]: options.fullNames ? typeName : name, ...Object.fromEntries(parameters) },
    },
    read: (wire) => words.get(wire as number) ?? refuse(wire, `a number of ${typeName}`),
    write: (value) => numbers.get(value as string) ?? refuse(value, `a word of ${typeName}`),
  }
}

const asItIs = (value: unknown) => value
const toBigint = (value: unknown) =>
  typeof value === 'bigint' || Number.isInteger(value) ? BigInt(value as number) : refuse(value, 'a whole number')
const kindOf = (type: Schema['type']): Kind => ({ schema: { type }, read: asItIs, write: asItIs })
const INT64_KIND: Kind = { schema: { type: 'int64' }, read: (wire) => int64(wire as bigint), write: toBigint }
const UINT32_KIND: Kind = { ...kindOf('int64') }
const BYTES_KIND: Kind = {
  ...kindOf('bytes'),
  read: (wire) => Buffer.from(wire as Uint8Array),
}

/** By the numbers that descriptors have for them. */
function scalarKind(scalar: ScalarType): Kind {
  switch (scalar) {
    case 1:
      return kindOf('float64')
    case 2:
      return kindOf('float32')
    case 8:
      return kindOf('boolean')
    case 9:
      return kindOf('string')
    case 12:
      return BYTES_KIND
    case 7:
    case 13:
      return UINT32_KIND
    case 3:
    case 4:
    case 6:
    case 16:
    case 18:
      return INT64_KIND
    default:
      return kindOf('int32')
  }
}

const DAY_MS = 86_400_000

const LOGICAL_KINDS: Readonly<Record<string, Kind>> = {
  [MESSAGE.timestamp]: {
    schema: TIMESTAMP,
    read: (wire) => {
      const { seconds, nanos } = wire as { seconds: bigint; nanos: number }
      return new Date(Number(seconds) * 1_000 + Math.trunc(nanos / 1_000_000))
    },
    write: (value) => {
      const ms = dateOf(value).getTime()
      const seconds = Math.floor(ms / 1_000)
      return { seconds: BigInt(seconds), nanos: (ms - seconds * 1_000) * 1_000_000 }
    },
  },
  [MESSAGE.date]: {
    schema: DATE,
    read: (wire) => {
      const { year, month, day } = wire as { year: number; month: number; day: number }
      const date = new Date(0)
      date.setUTCFullYear(year, month - 1, day)
      return date
    },
    write: (value) => {
      const date = new Date(Math.floor(dateOf(value).getTime() / DAY_MS) * DAY_MS)
      return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
    },
  },
  [MESSAGE.time]: {
    schema: TIME,
    read: (wire) => {
      const { hours, minutes, seconds, nanos } = wire as Record<'hours' | 'minutes' | 'seconds' | 'nanos', number>
      return ((hours * 60 + minutes) * 60 + seconds) * 1_000 + Math.trunc(nanos / 1_000_000)
    },
    write: (value) => {
      const ms = value as number
      const [hours, minutes] = [Math.trunc(ms / 3_600_000), Math.trunc(ms / 60_000) % 60]
      return { hours, minutes, seconds: Math.trunc(ms / 1_000) % 60, nanos: (ms % 1_000) * 1_000_000 }
    },
  },
}

function dateOf(value: unknown): Date {
  return value instanceof Date ? value : refuse(value, LOGICAL.timestamp)
}

/** Each value has a scale of its own in Protobuf; in Connect the schema has it. */
function decimalKind(scale: number): Kind {
  return {
    schema: decimal(scale),
    read: (wire) => {
      const { value, scale: own } = wire as { value: Uint8Array; scale: number }
      return rescale({ unscaled: bigintFromBytes(value), scale: own }, scale)
    },
    write: (value) => {
      const { unscaled, scale: own } = value as Decimal
      return { value: bigintToBytes(unscaled), precision: 0, scale: own }
    },
  }
}

function misfit(value: unknown, wanted: string): DataError {
  return new DataError(`${valueLabel(value)} where ${wanted} is expected`)
}

function refuse(value: unknown, wanted: string): never {
  throw misfit(value, wanted)
}
