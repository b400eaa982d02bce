import { BYTES, FLOAT64, INT32, OPTIONAL_BYTES, optional, type Schema } from '../../../../sdk/index.ts'

const SRID = { name: 'srid', schema: optional(INT32) }

function geometrySchema(name: string, doc: string, fields: NonNullable<Schema['fields']>): Schema {
  return { type: 'struct', name: `io.debezium.data.geometry.${name}`, version: 1, doc, fields }
}

/** A point with its form in well-known binary. */
export const POINT_SCHEMA: Schema = geometrySchema('Point', 'Geometry (POINT)', [
  { name: 'x', schema: FLOAT64 },
  { name: 'y', schema: FLOAT64 },
  { name: 'wkb', schema: OPTIONAL_BYTES },
  SRID,
])

/** Any shape, in well-known binary. */
export function shapeSchema(name: 'Geometry' | 'Geography'): Schema {
  return geometrySchema(name, name, [{ name: 'wkb', schema: BYTES }, SRID])
}
