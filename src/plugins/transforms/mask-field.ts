import { inferType, javaClass } from '../../java-compat/java-class-name.ts'
import {
  DataError,
  decimalFromText,
  decimalScale,
  field,
  isDecimal,
  LOGICAL,
  rescale,
  type Schema,
  type SchemaType,
  z,
} from '../../sdk/index.ts'
import { toInteger } from './cast-number.ts'
import { sideTransforms } from './key-value-transforms.ts'
import {
  membersOf,
  nonEmptyListField,
  ownMember,
  replaceNullField,
  requireObject,
  requireStruct,
} from './struct-access.ts'

const PURPOSE = 'mask fields'

/** Replaces the values of fields by an empty or a configured value. */
export const maskField = sideTransforms({
  name: 'MaskField',
  summary:
    'Replaces the values of fields with the empty value of their type (0, false, an empty string) or with a configured value.',
  notes: "Decimals keep their scale. Kafka Connect's transform changes it to 0 and then fails.",
  config: z.object({
    fields: nonEmptyListField('fields', { doc: 'Names of fields to mask.', importance: 'HIGH' }),
    replacement: field
      .text({
        doc: "Custom value replacement, that will be applied to all 'fields' values (numeric or non-empty string values only).",
        importance: 'LOW',
        nonEmpty: true,
      })
      .optional(),
    'replace.null.with.default': replaceNullField(),
  }),
  create({ fields, replacement, 'replace.null.with.default': withDefault }) {
    const masked = new Set(fields)
    const mask = (value: unknown, schema: Schema | null) => {
      if (value === null || value === undefined) return null
      return replacement === undefined ? emptyOf(value, schema) : replaced(value, schema, replacement)
    }
    return ({ schema, value }) => {
      if (schema === null) {
        const members = requireObject(value, PURPOSE)
        const changed = fields.map((name) => [name, mask(ownMember(members, name), null)])
        return { schema, value: { ...members, ...Object.fromEntries(changed) } }
      }
      const struct = requireStruct(value, schema, PURPOSE)
      const changed = membersOf(schema, struct, withDefault, (found, one) =>
        masked.has(one.name) ? mask(found, one.schema) : found,
      )
      return { schema, value: changed }
    }
  },
})

function emptyOf(value: unknown, schema: Schema | null): unknown {
  if (isDecimal(value)) return { unscaled: 0n, scale: value.scale }
  if (value instanceof Date) return new Date(0)
  const type = schema?.type ?? inferType(value)
  const empty = EMPTY[type]
  if (empty !== undefined) return empty
  if (type === 'array') return []
  if (type === 'map') return value instanceof Map ? new Map() : {}
  throw new DataError(`Cannot mask value of type: class ${javaClass(value, schema)}`)
}

const EMPTY: Partial<Record<SchemaType, unknown>> = {
  int8: 0,
  int16: 0,
  int32: 0,
  int64: 0,
  float32: 0,
  float64: 0,
  boolean: false,
  string: '',
}

const BITS: Partial<Record<SchemaType, 8 | 16 | 32 | 64>> = { int8: 8, int16: 16, int32: 32, int64: 64 }

function replaced(value: unknown, schema: Schema | null, replacement: string): unknown {
  const type = schema?.type ?? inferType(value)
  const isTime = value instanceof Date || schema?.name === LOGICAL.time
  if (type === 'string') return replacement
  if (isDecimal(value)) return numberOf(replacement, (text) => rescale(decimalFromText(text), scaleOf(value, schema)))
  const bits = BITS[type]
  if (bits !== undefined && !isTime) {
    return numberOf(replacement, (text) => toInteger(decimalFromText(text), type, bits))
  }
  if (type === 'float32') return Math.fround(numberOf(replacement, finite))
  if (type === 'float64') return numberOf(replacement, finite)
  throw new DataError(`Cannot mask value of type class ${javaClass(value, schema)} with custom replacement.`)
}

function scaleOf(value: { readonly scale: number }, schema: Schema | null): number {
  return schema === null ? value.scale : decimalScale(schema)
}

function finite(text: string): number {
  const { unscaled, scale } = decimalFromText(text)
  return Number(`${unscaled}e${-scale}`)
}

function numberOf<Value>(replacement: string, parse: (text: string) => Value): Value {
  try {
    return parse(replacement)
  } catch (error) {
    throw new DataError(`Unable to convert ${replacement} (class java.lang.String) to number`, { cause: error })
  }
}
