import { field, optional, z } from '../../../sdk/index.ts'
import { sideTransforms } from '../key-value-transforms.ts'
import { oncePerSchema } from '../struct-access.ts'

/** Confluent's Drop: removes the key or the value. */
export const drop = sideTransforms({
  name: 'Drop',
  original: 'io.confluent.connect.transforms.Drop',
  summary: 'Sets the key or value to null.',
  config: z.object({
    'schema.behavior': field
      .oneOf(['nullify', 'retain', 'force_optional'], {
        doc: 'Whether the schema is removed, kept as it is, or kept and made optional.',
      })
      .default('nullify'),
  }),
  create({ 'schema.behavior': behavior }) {
    const optionalOf = oncePerSchema(optional)
    return ({ schema }) => {
      if (schema === null || behavior === 'nullify') return { schema: null, value: null }
      return { schema: behavior === 'retain' || schema.optional ? schema : optionalOf(schema), value: null }
    }
  },
})
