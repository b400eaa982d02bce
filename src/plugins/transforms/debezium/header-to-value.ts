import { DataError, defineTransform, type Field, field, type Schema, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { basicsOf, exactWordField, type Members, memberOf, requireStruct, structOf } from '../struct-access.ts'

const PURPOSE = 'Header field insertion'

function names(key: string, doc: string) {
  return field.parsed(field.list({ doc, importance: 'HIGH' }), (list) => {
    const wrong = list.find((one) => /\s/.test(one))
    if (list.length > 0 && wrong === undefined) return list
    const problem = wrong === undefined ? 'at least one name is needed' : `'${wrong}' contains white space`
    throw new Error(`Invalid value ${list.join(',')} for configuration ${key}: ${problem}`)
  })
}

/** A header as a field: where in the value, and with which schema. */
type Entry = { readonly path: readonly string[]; readonly schema: Schema; readonly value: unknown }

export const headerToValue = defineTransform({
  class: 'HeaderToValue',
  aliases: ['io.debezium.transforms.HeaderToValue'],
  version: SHIPPED_VERSION,
  summary: 'Moves or copies headers into fields of the value.',
  notes: `
Values must be structs. Tombstones, and records that have none of the headers, pass unchanged. A nested struct that gets a field remains
optional; in the original it does not, so that deletes cannot be written.
`,
  config: z
    .object({
      headers: names('headers', 'Names of headers.'),
      fields: names('fields', 'Names of the fields, in the order of the headers; a.b is a field of the struct in a.'),
      operation: exactWordField(['move', 'copy'], {
        doc: 'Whether the headers are removed (move) or kept (copy).',
        importance: 'HIGH',
      }),
    })
    .superRefine(({ fields, headers }, context) => {
      if (fields.length === headers.length) return
      const message = "'fields' config must have the same number of elements as 'headers' config."
      field.addProblem(context, 'fields', message)
    }),
  create({ fields, headers, operation }) {
    const paths = new Map(headers.map((name, at) => [name, (fields[at] ?? '').split('.')]))
    const known = new WeakMap<Schema, Map<string, Schema>>()
    const schemaOf = (schema: Schema, entries: readonly Entry[]) => {
      const byHeaders = known.get(schema) ?? new Map<string, Schema>()
      known.set(schema, byHeaders)
      const key = JSON.stringify(entries.map(({ path, schema: one }) => [path, one]))
      const made = byHeaders.get(key) ?? extended(schema, entries)
      if (byHeaders.size < SCHEMAS_MAX) byHeaders.set(key, made)
      return made
    }
    return (record) => {
      const { value, valueSchema } = record
      if (value === null || value === undefined) return record
      if (valueSchema === null)
        throw new DataError(`Only Struct objects supported for [${PURPOSE}], found a value without a schema`)
      const struct = requireStruct(value, valueSchema, PURPOSE)
      const entries = record.headers.flatMap(({ key, schema, value: member }): readonly Entry[] => {
        const path = paths.get(key)
        if (path === undefined) return []
        if (schema === null) throw new DataError(`the header '${key}' has no schema, so it cannot be a field`)
        return [{ path, schema, value: member }]
      })
      if (entries.length === 0) return record
      return {
        ...record,
        valueSchema: schemaOf(valueSchema, entries),
        value: filled(valueSchema, struct, entries),
        headers: operation === 'move' ? record.headers.filter(({ key }) => !paths.has(key)) : record.headers,
      }
    }
  },
})

const SCHEMAS_MAX = 64

/** The entries that belong to the struct of this field, with the remaining paths. */
function below(name: string, entries: readonly Entry[]): readonly Entry[] {
  return entries
    .filter(({ path }) => path.length > 1 && path[0] === name)
    .map(({ path, ...entry }) => ({ ...entry, path: path.slice(1) }))
}

const isLast = ({ path }: Entry) => path.length === 1

function parentsOf(entries: readonly Entry[], fields: readonly Field[]): readonly string[] {
  const known = new Set(fields.map(({ name }) => name))
  return [...new Set(entries.filter((one) => !isLast(one)).map(({ path }) => path[0] ?? ''))].filter(
    (name) => !known.has(name),
  )
}

function extended(schema: Schema, entries: readonly Entry[]): Schema {
  if (schema.type !== 'struct')
    throw new DataError(`'${entries[0]?.path.join('.')}' is in a field that is not a struct`)
  const { fields = [] } = schema
  const own = fields.map((one) => {
    const inner = below(one.name, entries)
    return inner.length === 0 ? one : { name: one.name, schema: extended(one.schema, inner) }
  })
  const names = new Set(fields.map(({ name }) => name))
  const added = entries.filter((one) => isLast(one) && !names.has(one.path[0] ?? ''))
  const unique = new Map(added.map(({ path, schema: one }) => [path[0] ?? '', one]))
  const parents = parentsOf(entries, fields).map((name) => ({
    name,
    schema: { ...extended({ type: 'struct', fields: [] }, below(name, entries)), optional: true },
  }))
  const made = structOf(basicsOf(schema), [
    ...own,
    ...[...unique].map(([name, one]) => ({ name, schema: one })),
    ...parents,
  ])
  return schema.optional ? { ...made, optional: true } : made
}

function filled(schema: Schema, struct: Members, entries: readonly Entry[]): Members {
  const { fields = [] } = schema
  const own = fields.map((one) => {
    const inner = below(one.name, entries)
    const member = memberOf(struct, one)
    return [one.name, inner.length === 0 || member === null ? member : filled(one.schema, member as Members, inner)]
  })
  const parents = parentsOf(entries, fields).map((name) => [
    name,
    filled({ type: 'struct', fields: [] }, {}, below(name, entries)),
  ])
  const added = entries.filter(isLast).map(({ path, value }) => [path[0] ?? '', value])
  return Object.fromEntries([...own, ...parents, ...added])
}
