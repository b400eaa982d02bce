import { DataError, field, z } from '../../sdk/index.ts'
import { sideTransforms } from './key-value-transforms.ts'
import { oncePerSchema, structOf } from './struct-access.ts'

/** Wraps the whole key or value in a struct or object with a single field. */
export const hoistField = sideTransforms({
  name: 'HoistField',
  summary: 'Wraps the whole key or value in a struct, or in an object if there is no schema, with a single field.',
  config: z.object({
    field: field.text({ doc: 'Field name for the single field that will be created in the resulting Struct or Map.' }),
  }),
  create({ field: name }) {
    const hoisted = oncePerSchema((schema) => structOf({}, [{ name, schema }]))
    return ({ schema, value }) => {
      const isMissing = (value ?? schema?.default ?? null) === null
      if (schema !== null && isMissing && !schema.optional) {
        const type = schema.type.toUpperCase()
        throw new DataError(`Invalid value: null used for required field: "${name}", schema type: ${type}`)
      }
      return { schema: schema && hoisted(schema), value: { [name]: value ?? null } }
    }
  },
})
