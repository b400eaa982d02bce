import { field, z } from '../../sdk/index.ts'
import { fieldAt, memberAt, parseFieldPath, valueAt } from './field-path.ts'
import { sideTransforms } from './key-value-transforms.ts'
import { replaceNullField, requireObject, requireStructOrNull } from './struct-access.ts'

const PURPOSE = 'field extraction'
const VERSIONS = ['V1', 'V2'] as const

/** Replaces the whole key or value by one of its fields. */
export const extractField = sideTransforms({
  name: 'ExtractField',
  summary: 'Extracts a field and replaces the whole key or value with it.',
  config: z.object({
    field: field.text({ doc: 'Field name to extract.' }),
    'replace.null.with.default': replaceNullField(),
    'field.syntax.version': field
      .text({
        doc:
          'Defines the version of the syntax to access fields. If set to <code>V1</code>, then the field paths are ' +
          'limited to access the elements at the root level of the struct or map. If set to <code>V2</code>, the ' +
          'syntax will support accessing nested elements. To access nested elements, dotted notation is used. If ' +
          'dots are already included in the field name, then backtick pairs can be used to wrap field names ' +
          'containing dots. E.g. to access the subfield <code>baz</code> from a field named "foo.bar" in a ' +
          'struct/map the following format can be used to access its elements: "<code>foo.bar</code>.baz".',
        importance: 'HIGH',
      })
      .toUpperCase()
      .pipe(z.enum(VERSIONS, `String must be one of (case insensitive): ${VERSIONS.join(', ')}`))
      .default('V1'),
  }),
  create(config) {
    const path = config['field.syntax.version'] === 'V1' ? [config.field] : parseFieldPath(config.field)
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
