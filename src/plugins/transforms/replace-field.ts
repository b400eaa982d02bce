import { field, z } from '../../sdk/index.ts'
import { sideTransforms } from './key-value-transforms.ts'
import {
  basicsOf,
  colonParts,
  memberOf,
  oncePerSchema,
  replaceNullField,
  requireObject,
  requireStruct,
  structOf,
} from './struct-access.ts'

const PURPOSE = 'field replacement'

/** Removes or renames fields. */
export const replaceField = sideTransforms({
  name: 'ReplaceField',
  summary: 'Removes or renames fields.',
  config: z.object({
    exclude: field.list({ doc: 'Fields to exclude. This takes precedence over the fields to include.' }).default([]),
    include: field.list({ doc: 'Fields to include. If specified, only these fields will be used.' }).default([]),
    renames: field.parsed(field.list({ doc: 'Field rename mappings.' }), parseRenames).prefault(''),
    'replace.null.with.default': replaceNullField(),
  }),
  create({ exclude, include, renames, 'replace.null.with.default': withDefault }) {
    const excluded = new Set(exclude)
    const included = new Set(include)
    const isKept = (name: string) => !excluded.has(name) && (included.size === 0 || included.has(name))
    const renamed = (name: string) => renames.get(name) ?? name
    const replaced = oncePerSchema((schema) => {
      const kept = (schema.fields ?? []).filter(({ name }) => isKept(name))
      return structOf(
        basicsOf(schema),
        kept.map((one) => ({ name: renamed(one.name), schema: one.schema })),
      )
    })
    return (side) => {
      const { schema, value } = side
      if (value === null || value === undefined) return side
      if (schema === null) {
        const kept = Object.entries(requireObject(value, PURPOSE)).filter(([name]) => isKept(name))
        return { schema, value: Object.fromEntries(kept.map(([name, member]) => [renamed(name), member])) }
      }
      const struct = requireStruct(value, schema, PURPOSE)
      const kept = (schema.fields ?? []).filter(({ name }) => isKept(name))
      const members = kept.map((one) => [renamed(one.name), memberOf(struct, one, withDefault)])
      return { schema: replaced(schema), value: Object.fromEntries(members) }
    }
  },
})

function parseRenames(mappings: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    mappings.map((mapping) => {
      const [from, to, ...more] = colonParts(mapping)
      if (from === undefined || to === undefined || more.length > 0) {
        throw new Error(
          `Invalid value [${mappings.join(', ')}] for configuration renames: Invalid rename mapping: ${mapping}`,
        )
      }
      return [from, to]
    }),
  )
}
