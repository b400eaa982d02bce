import { ConfigError, DataError, field, z } from '../../sdk/index.ts'
import { sideTransforms } from './key-value-transforms.ts'
import { type Members, membersOf, oncePerSchema, replaceNullField } from './struct-access.ts'

/** Sets the name or version of a schema. */
export const setSchemaMetadata = sideTransforms({
  name: 'SetSchemaMetadata',
  summary: 'Sets the name, the version, or both, of the schema.',
  config: z.object({
    'schema.name': field.text({ doc: 'Schema name to set.', importance: 'HIGH' }).optional(),
    'schema.version': field.int({ doc: 'Schema version to set.', importance: 'HIGH' }).optional(),
    'replace.null.with.default': replaceNullField(),
  }),
  create({ 'schema.name': name, 'schema.version': version, 'replace.null.with.default': withDefault }) {
    if (name === undefined && version === undefined) {
      throw new ConfigError([{ key: 'schema.name', message: 'Neither schema name nor version configured' }])
    }
    const renamed = oncePerSchema((schema) => ({
      ...schema,
      ...(name !== undefined && { name }),
      ...(version !== undefined && { version }),
    }))
    return (side) => {
      const { schema, value } = side
      const isMissing = value === null || value === undefined
      if (schema === null) {
        if (isMissing) return side
        throw new DataError('Schema required for [updating schema metadata]')
      }
      if (isMissing || schema.type !== 'struct') return { schema: renamed(schema), value }
      return { schema: renamed(schema), value: membersOf(schema, value as Members, withDefault) }
    }
  },
})
