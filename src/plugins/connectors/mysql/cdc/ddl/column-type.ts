import type { HistoryColumn } from '../table-model.ts'
import { SqlSyntaxError } from './sql-tokens.ts'
import type { TokenReader } from './token-reader.ts'

/** Numbers of `java.sql.Types`, which the schema history has. */
const JDBC = {
  bit: -7,
  bigint: -5,
  varbinary: -3,
  binary: -2,
  char: 1,
  numeric: 2,
  decimal: 3,
  integer: 4,
  smallint: 5,
  float: 6,
  real: 7,
  double: 8,
  varchar: 12,
  boolean: 16,
  date: 91,
  time: 92,
  timestamp: 93,
  other: 1111,
  timestampWithTimezone: 2014,
  blob: 2004,
  nchar: -15,
  nvarchar: -9,
} as const

type TypeInfo = {
  readonly jdbcType: number
  readonly length?: number
  readonly scale?: number
  readonly isText?: boolean
}

const entries = (names: string, info: TypeInfo) => names.split(' ').map((name) => [name, info] as const)

/** Types by their name in upper case, with the length and the scale that they have without one. */
const TYPES = new Map<string, TypeInfo>([
  ...entries('CHAR CHARACTER', { jdbcType: JDBC.char, isText: true }),
  ...entries('VARCHAR TINYTEXT TEXT MEDIUMTEXT LONGTEXT LONG VARCHARACTER', { jdbcType: JDBC.varchar, isText: true }),
  ...entries('NCHAR', { jdbcType: JDBC.nchar, length: 1, isText: true }),
  ...entries('NVARCHAR', { jdbcType: JDBC.nvarchar, isText: true }),
  ...entries('TINYINT INT1 SMALLINT INT2', { jdbcType: JDBC.smallint }),
  ...entries('MEDIUMINT INT3 MIDDLEINT INT INTEGER INT4 YEAR', { jdbcType: JDBC.integer }),
  ...entries('BIGINT INT8', { jdbcType: JDBC.bigint }),
  ...entries('REAL', { jdbcType: JDBC.real }),
  ...entries('DOUBLE FLOAT8', { jdbcType: JDBC.double }),
  ...entries('FLOAT FLOAT4', { jdbcType: JDBC.float }),
  ...entries('DECIMAL DEC FIXED', { jdbcType: JDBC.decimal, length: 10, scale: 0 }),
  ...entries('NUMERIC', { jdbcType: JDBC.numeric, length: 10, scale: 0 }),
  ...entries('BIT', { jdbcType: JDBC.bit, length: 1 }),
  ...entries('VECTOR', { jdbcType: JDBC.other, length: 2048 }),
  ...entries('TIME', { jdbcType: JDBC.time }),
  ...entries('TIMESTAMP', { jdbcType: JDBC.timestampWithTimezone }),
  ...entries('DATETIME', { jdbcType: JDBC.timestamp }),
  ...entries('DATE', { jdbcType: JDBC.date }),
  ...entries('BINARY', { jdbcType: JDBC.binary }),
  ...entries('VARBINARY', { jdbcType: JDBC.varbinary }),
  ...entries('BLOB TINYBLOB MEDIUMBLOB LONGBLOB', { jdbcType: JDBC.blob }),
  ...entries('BOOL BOOLEAN', { jdbcType: JDBC.boolean }),
  ...entries('ENUM SET', { jdbcType: JDBC.char, isText: true }),
  ...entries(
    'GEOMETRYCOLLECTION GEOMCOLLECTION LINESTRING MULTILINESTRING MULTIPOINT MULTIPOLYGON POINT POLYGON GEOMETRY',
    {
      jdbcType: JDBC.other,
    },
  ),
  ...entries('JSON UUID INET4 INET6', { jdbcType: JDBC.other }),
])

const ATTRIBUTES = ['SIGNED', 'UNSIGNED', 'ZEROFILL', 'PRECISION'] as const

/** The type of a column, as the schema history has it. */
export type MysqlColumnType = Pick<
  HistoryColumn,
  'typeName' | 'jdbcType' | 'charsetName' | 'length' | 'scale' | 'enumValues'
>

type NamedType = { readonly typeName: string; readonly info: TypeInfo }

/** Reads a type with its length and attributes. Throws a `SqlSyntaxError`. */
export function readColumnType(reader: TokenReader): MysqlColumnType {
  const { typeName: name, info } = readName(reader)
  const isEnumeration = name === 'ENUM' || name === 'SET'
  const inner = reader.isAtSymbol('(') ? reader.parentheses() : []
  const enumValues = isEnumeration ? inner.filter(({ kind }) => kind === 'text').map(({ raw }) => raw) : []
  const numbers = inner.filter(({ kind }) => kind === 'number').map(({ value }) => Number(value))
  // `char(1) byte` is binary data.
  const isByte = info.isText === true && reader.accept('BYTE')
  return {
    typeName: (isByte ? name.replace('CHAR', 'BINARY') : name) + readAttributes(reader),
    jdbcType: isByte ? JDBC.binary : info.jdbcType,
    // These types always have this character set.
    charsetName: info.jdbcType === JDBC.nchar || info.jdbcType === JDBC.nvarchar ? 'utf8' : undefined,
    length: isEnumeration ? enumLength(name, enumValues.length) : (numbers[0] ?? info.length),
    scale: isEnumeration ? undefined : (numbers[1] ?? info.scale),
    enumValues,
  }
}

/** As Debezium counts it: a set has its values and commas between them. */
function enumLength(name: string, count: number): number {
  return name === 'SET' ? Math.max(0, count * 2 - 1) : 1
}

function readAttributes(reader: TokenReader): string {
  let attributes = ''
  let attribute = reader.acceptOne(...ATTRIBUTES)
  while (attribute !== undefined) {
    attributes += ` ${attribute}`
    attribute = reader.acceptOne(...ATTRIBUTES)
  }
  return attributes
}

function readName(reader: TokenReader): NamedType {
  const isNational = reader.accept('NATIONAL')
  const first = reader.name().toUpperCase()
  // MariaDB's name of the package of a type.
  const base = first === 'MARIADB_SCHEMA' && reader.acceptSymbol('.') ? reader.name().toUpperCase() : first
  const info = TYPES.get(base)
  if (info === undefined) throw new SqlSyntaxError(`the type ${base} is not known`)
  const named = withSecondWord(base, info, reader)
  if (!isNational) return named
  const jdbcType = named.info.jdbcType === JDBC.char ? JDBC.nchar : JDBC.nvarchar
  return { typeName: `NATIONAL ${named.typeName}`, info: { ...named.info, jdbcType } }
}

function withSecondWord(base: string, info: TypeInfo, reader: TokenReader): NamedType {
  if (/^(?:N?CHAR|CHARACTER)$/.test(base) && reader.accept('VARYING')) {
    const jdbcType = base === 'NCHAR' ? JDBC.nvarchar : JDBC.varchar
    return { typeName: `${base} VARYING`, info: { jdbcType, isText: true } }
  }
  if (base !== 'LONG') return { typeName: base, info }
  if (reader.accept('VARBINARY')) return { typeName: 'LONG VARBINARY', info: { jdbcType: JDBC.blob } }
  return { typeName: reader.accept('VARCHAR') ? 'LONG VARCHAR' : base, info }
}

/** Whether the column's type has a character set. */
export function hasCharset({ jdbcType, typeName }: HistoryColumn): boolean {
  const base = typeName.split(/[ (]/)[0]!
  return (
    TYPES.get(base === 'NATIONAL' ? 'NCHAR' : base)?.isText === true &&
    jdbcType !== JDBC.binary &&
    jdbcType !== JDBC.blob
  )
}
