import { MysqlReader } from '../../protocol/mysql-reader.ts'

/** A column as rows of the log have it. */
export type LoggedColumn = { readonly type: number; readonly meta: number }

/** The form of the rows of a table, which precedes them in the log. */
export type TableMap = {
  readonly id: number
  readonly database: string
  readonly table: string
  readonly columns: readonly LoggedColumn[]
  /** The names of the columns, with `binlog_row_metadata=FULL`. */
  readonly names: readonly string[] | undefined
  /** All that the log says about the columns: it is equal for an equal form of the rows. */
  readonly form: Buffer
}

export const COLUMN_TYPE = {
  tiny: 1,
  short: 2,
  long: 3,
  float: 4,
  double: 5,
  null: 6,
  timestamp: 7,
  longLong: 8,
  int24: 9,
  date: 10,
  time: 11,
  datetime: 12,
  year: 13,
  newDate: 14,
  varchar: 15,
  bit: 16,
  timestamp2: 17,
  datetime2: 18,
  time2: 19,
  blobCompressed: 140,
  varcharCompressed: 141,
  vector: 242,
  json: 245,
  newDecimal: 246,
  enum: 247,
  set: 248,
  tinyBlob: 249,
  mediumBlob: 250,
  longBlob: 251,
  blob: 252,
  varString: 253,
  string: 254,
  geometry: 255,
} as const

const ONE_BYTE = new Set<number>([
  ...[
    COLUMN_TYPE.float,
    COLUMN_TYPE.double,
    COLUMN_TYPE.timestamp2,
    COLUMN_TYPE.datetime2,
    COLUMN_TYPE.time2,
    COLUMN_TYPE.json,
    COLUMN_TYPE.vector,
  ],
  ...[
    COLUMN_TYPE.tinyBlob,
    COLUMN_TYPE.mediumBlob,
    COLUMN_TYPE.longBlob,
    COLUMN_TYPE.blob,
    COLUMN_TYPE.blobCompressed,
    COLUMN_TYPE.geometry,
  ],
])
const TWO_BYTES_LE = new Set<number>([COLUMN_TYPE.varchar, COLUMN_TYPE.varcharCompressed, COLUMN_TYPE.bit])
const TWO_BYTES_BE = new Set<number>([
  COLUMN_TYPE.newDecimal,
  COLUMN_TYPE.enum,
  COLUMN_TYPE.set,
  COLUMN_TYPE.varString,
  COLUMN_TYPE.string,
])

const COLUMN_NAMES = 4

export function readTableMap(reader: MysqlReader): TableMap {
  const id = reader.uint(6)
  reader.skip(2)
  const database = reader.utf8(reader.uint8())
  reader.skip(1)
  const table = reader.utf8(reader.uint8())
  reader.skip(1)
  const form = Buffer.from(reader.bytes.subarray(reader.position, reader.position + reader.remaining))
  const types = reader.view(reader.lengthEncoded())
  const metadata = new MysqlReader(reader.view(reader.lengthEncoded()), `the columns of ${database}.${table}`)
  const columns = [...types].map((type) => ({ type, meta: readMeta(type, metadata) }))
  reader.skip((types.length + 7) >> 3)
  return { id, database, table, columns, names: readNames(reader), form }
}

function readMeta(type: number, reader: MysqlReader): number {
  if (ONE_BYTE.has(type)) return reader.uint8()
  if (TWO_BYTES_LE.has(type)) return reader.uint16()
  return TWO_BYTES_BE.has(type) ? reader.uintBE(2) : 0
}

/** Optional metadata: a type, a length and the data of each part. */
function readNames(reader: MysqlReader): readonly string[] | undefined {
  while (reader.remaining > 0) {
    const type = reader.uint8()
    const part = new MysqlReader(reader.view(reader.lengthEncoded()), 'the names of columns')
    if (type !== COLUMN_NAMES) continue
    const names: string[] = []
    while (part.remaining > 0) names.push(part.utf8(part.lengthEncoded()))
    return names
  }
  return undefined
}
