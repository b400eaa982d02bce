import { DataError } from '../../../../../sdk/index.ts'
import { POINT_SCHEMA, shapeSchema } from '../../../cdc/values/geometry-schemas.ts'
import type { ValueType } from '../../../cdc/values/value-type.ts'

export const POINT: ValueType = {
  schema: POINT_SCHEMA,
  decode(text) {
    const comma = text.indexOf(',')
    if (!text.startsWith('(') || !text.endsWith(')') || comma < 0) throw new DataError(`'${text}' is not a point`)
    const x = Number(text.slice(1, comma))
    const y = Number(text.slice(comma + 1, -1))
    return toPoint(x, y)
  },
  get zero() {
    return toPoint(0, 0)
  },
}

function toPoint(x: number, y: number): object {
  return { x, y, wkb: pointBytes(x, y), srid: null }
}

const LITTLE_ENDIAN = 1
const WKB_POINT = 1

function pointBytes(x: number, y: number): Buffer {
  const bytes = Buffer.alloc(21)
  bytes.writeUInt8(LITTLE_ENDIAN, 0)
  bytes.writeUInt32LE(WKB_POINT, 1)
  bytes.writeDoubleLE(x, 5)
  bytes.writeDoubleLE(y, 13)
  return bytes
}

/** A value of PostGIS, whose text is its extended well-known binary in hexadecimal. */
const shape = (name: 'Geometry' | 'Geography'): ValueType => ({
  schema: shapeSchema(name),
  decode(text) {
    const wkb = Buffer.from(text, 'hex')
    if (wkb.length * 2 !== text.length || wkb.length < 5)
      throw new DataError(`the text of a ${name} is not hexadecimal`)
    return { wkb, srid: sridOf(wkb) }
  },
  unavailable: (placeholder) => ({ wkb: Buffer.from(placeholder), srid: null }),
})

export const GEOMETRY = shape('Geometry')
export const GEOGRAPHY = shape('Geography')

const HAS_SRID = 0x20000000

/** The spatial reference system, which PostGIS stores after the type. */
function sridOf(wkb: Buffer): number | null {
  const isLittle = wkb[0] === LITTLE_ENDIAN
  const type = isLittle ? wkb.readUInt32LE(1) : wkb.readUInt32BE(1)
  if ((type & HAS_SRID) === 0 || wkb.length < 9) return null
  return isLittle ? wkb.readInt32LE(5) : wkb.readInt32BE(5)
}
