import { defineTransform, field, z } from '../../sdk/index.ts'
import { inferValue } from '../converters/simple-header/infer-value.ts'
import { names } from './key-value-transforms.ts'
import { nonEmptyListField } from './struct-access.ts'

export const insertHeader = defineTransform({
  ...names('InsertHeader'),
  summary: 'Adds a header to each record.',
  config: z.object({
    header: field.text({ doc: 'The name of the header.', importance: 'HIGH' }),
    'value.literal': field.text({
      doc: 'The literal value that is to be set as the header value on all records.',
      importance: 'HIGH',
    }),
  }),
  create({ header, 'value.literal': literal }) {
    const added = { key: header, ...inferValue(literal) }
    return (record) => ({ ...record, headers: [...record.headers, added] })
  },
})

export const dropHeaders = defineTransform({
  ...names('DropHeaders'),
  summary: 'Removes headers by name from each record.',
  config: z.object({
    headers: nonEmptyListField('headers', { doc: 'The name of the headers to be removed.', importance: 'HIGH' }),
  }),
  create({ headers }) {
    const dropped = new Set(headers)
    return (record) => ({ ...record, headers: record.headers.filter(({ key }) => !dropped.has(key)) })
  },
})
