import { field, z } from '../../sdk/index.ts'
import { fieldAt, fieldPath, fieldSyntaxVersion, memberAt, valueAt } from './field-path.ts'
import { sideTransforms } from './key-value-transforms.ts'
import { replaceNullField, requireObject, requireStructOrNull } from './struct-access.ts'

const PURPOSE = 'field extraction'

/** Replaces the whole key or value by one of its fields. */
export const extractField = sideTransforms({
  name: 'ExtractField',
  summary: 'Extracts a field and replaces the whole key or value with it.',
  config: z.object({
    field: field.text({ doc: 'Field name to extract.' }),
    'replace.null.with.default': replaceNullField(),
    'field.syntax.version': fieldSyntaxVersion(),
  }),
  create(config) {
    const path = fieldPath(config.field, config['field.syntax.version'])
    const withDefault = config['replace.null.with.default']
    return ({ schema, value }) => {
      if (schema === null) {
        const isMissing = value === null || value === undefined
        return { schema, value: isMissing ? null : memberAt(requireObject(value, PURPOSE), path) }
      }
      const struct = requireStructOrNull(value, schema, PURPOSE)
      const found = fieldAt(schema, path)
      if (found === undefined) throw new Error(`Unknown field: ${config.field}`)
      return { schema: found.schema, value: struct && valueAt(schema, struct, path, withDefault) }
    }
  },
})
