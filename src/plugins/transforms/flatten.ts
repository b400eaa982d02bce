import { inferType, javaClass } from '../../java-compat/java-class-name.ts'
import { DataError, type Field, field, isDecimal, type Schema, type SchemaType, z } from '../../sdk/index.ts'
import { sideTransforms } from './key-value-transforms.ts'
import {
  absenceOf,
  basicsOf,
  type Members,
  memberOf,
  oncePerSchema,
  requireObject,
  requireStruct,
  structOf,
} from './struct-access.ts'

const PURPOSE = 'flattening'

/** Flattens nested structs or objects to one level. */
export const flatten = sideTransforms({
  name: 'Flatten',
  summary:
    'Flattens nested structs or objects to one level. The name of each field is made of the names on the path to it, joined by a delimiter.',
  notes: 'Arrays are not flattened.',
  config: z.object({
    delimiter: field
      .text({
        doc: 'Delimiter to insert between field names from the input record when generating field names for the output record',
      })
      .default('.'),
  }),
  create({ delimiter }) {
    const under = (prefix: string, name: string) => (prefix === '' ? name : prefix + delimiter + name)
    const flat = oncePerSchema((schema) => {
      const isOptional = schema.optional === true
      const fields = [...flatFields(schema, '', isOptional, schema.default as Members | undefined)]
      return structOf(basicsOf(schema), fields)
    })
    return (side) => {
      const { schema, value } = side
      if (value === null || value === undefined) return side
      if (schema === null) return { schema, value: Object.fromEntries(flatMembers(requireObject(value, PURPOSE), '')) }
      const struct = requireStruct(value, schema, PURPOSE)
      const updated = flat(schema)
      return { schema: updated, value: Object.fromEntries(flatValues(schema, struct, '')) }
    }

    function* flatMembers(members: Members, prefix: string): Generator<[string, unknown]> {
      for (const [name, value] of Object.entries(members)) {
        const path = under(prefix, name)
        if (value === null || value === undefined) yield [path, null]
        else if (value instanceof Date || isDecimal(value)) {
          throw new DataError(
            `Flatten transformation was passed a value of type class ${javaClass(value, null)} which is not supported by Connect's data API`,
          )
        } else if (inferType(value) === 'map') yield* flatMembers(requireObject(value, PURPOSE), path)
        else yield [path, value]
      }
    }

    /** Fields of an optional struct are optional. The default of a struct provides the defaults of its fields. */
    function* flatFields(
      schema: Schema,
      prefix: string,
      isOptional: boolean,
      defaults: Members | null | undefined,
    ): Generator<Field> {
      for (const one of schema.fields ?? []) {
        const path = under(prefix, one.name)
        const optional = isOptional || one.schema.optional === true
        const fallback = one.schema.default ?? (defaults ? memberOf(defaults, one) : null)
        if (one.schema.type === 'struct') yield* flatFields(one.schema, path, optional, fallback as Members | null)
        else yield { name: path, schema: leaf(one.schema, path, optional, fallback) }
      }
    }

    function* flatValues(schema: Schema, struct: Members, prefix: string): Generator<[string, unknown]> {
      for (const one of schema.fields ?? []) {
        const path = under(prefix, one.name)
        const value = memberOf(struct, one)
        if (one.schema.type !== 'struct') yield [path, value]
        else if (value !== null) yield* flatValues(one.schema, value as Members, path)
      }
    }
  },
})

function leaf(schema: Schema, path: string, optional: boolean, fallback: unknown): Schema {
  if (UNFIT.includes(schema.type)) {
    throw new DataError(
      `Flatten transformation does not support ${schema.type.toUpperCase()} for record with schemas (for field ${path}).`,
    )
  }
  return {
    ...basicsOf(schema),
    type: schema.type,
    ...(schema.items && { items: schema.items }),
    ...absenceOf({ type: schema.type, optional, default: fallback }),
  }
}

const UNFIT: readonly SchemaType[] = ['map', 'struct']
