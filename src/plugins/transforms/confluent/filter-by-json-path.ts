import { DataError, field, z } from '../../../sdk/index.ts'
import { JSON_PATH_NOTES, jsonPathField } from '../json-path/json-path.ts'
import { recordTransforms } from '../key-value-transforms.ts'

/** Confluent's Filter, which is not Kafka's: it has a condition of its own. */
export const jsonPathFilter = recordTransforms({
  name: 'FilterByJsonPath',
  original: 'io.confluent.connect.transforms.Filter',
  summary: 'Keeps or drops the records whose key or value a JSON path matches: $[?(@.status == "paid")].',
  notes: `
A record matches if the path leads to a value or, for a path with a filter, to at least one. A field that is missing inside of a filter matches
no condition but \`!=\`, \`!==\` and \`nin\`. A field that is missing elsewhere in the path, and a key or value that is null, are handled as
\`missing.or.null.behavior\` says.
${JSON_PATH_NOTES}`,
  config: z.object({
    'filter.condition': jsonPathField('filter.condition', {
      doc: 'JSON path that matches records.',
      importance: 'HIGH',
    }),
    'filter.type': field.oneOf(['include', 'exclude'], {
      doc: 'Whether matching records are kept (include) or dropped (exclude).',
      importance: 'HIGH',
    }),
    'missing.or.null.behavior': field
      .oneOf(['fail', 'include', 'exclude'], {
        doc: 'How records without the fields of the path are handled: an error, kept, or dropped.',
      })
      .default('fail'),
  }),
  create({ 'filter.condition': select, 'filter.type': type, 'missing.or.null.behavior': missing }, side) {
    return (record) => {
      const { value } = side.read(record)
      const found = select(value ?? null)
      if (
        value === null ||
        value === undefined ||
        found.isMissing ||
        found.value === null ||
        found.value === undefined
      ) {
        if (missing === 'fail') throw new DataError('a field of filter.condition is missing or null')
        return missing === 'include' ? record : null
      }
      const isMatch = !select.isIndefinite || (found.value as readonly unknown[]).length > 0
      return isMatch === (type === 'include') ? record : null
    }
  },
})
