import { createHash, getHashes } from 'node:crypto'
import type { JavaPattern } from '../../../../java-compat/java-regex.ts'
import type { Schema } from '../../../../sdk/index.ts'
import { parseNamePatterns } from './name-patterns.ts'

/** How a column is decoded: what its text and NULL become. */
export type ColumnDecoding = {
  readonly schema: Schema
  readonly decode: (text: string) => unknown
  readonly absent: unknown
}

/** The properties of a column on which masks, hashes and truncation depend. */
export type MaskedColumn = {
  /** The length of the column type, as `column.propagate.source.type` reports it. */
  readonly length: number
  /** Whether masks and hashes apply: the value of another type stays as it is, but its schema says that it is masked. */
  readonly isCharacters: boolean
}

/** A rule of a key with a variable name, such as `column.mask.with.5.chars`. */
export type ColumnMask = {
  readonly columns: readonly JavaPattern[]
  readonly apply: (decoding: ColumnDecoding, column: MaskedColumn) => ColumnDecoding
}

const LENGTH_MASK = /^column\.mask\.with\.(\d+)\.chars$/
const HASH_MASK = /^column\.mask\.hash\.(v2\.)?([^.]+)\.with\.salt\.(.+)$/
const TRUNCATION = /^column\.truncate\.to\.(\d+)\.chars$/
const MASKED = { masked: 'true' }

/** Parses the masks of a configuration, in the order in which they apply. Throws an `Error` that names the key. */
export function parseColumnMasks(config: Readonly<Record<string, unknown>>): readonly ColumnMask[] {
  const entries = Object.entries(config)
  return [parseTruncation, parseLengthMask, parseHash].flatMap((parse) =>
    entries.flatMap(([key, value]) => {
      const apply = parse(key)
      return apply === undefined ? [] : { apply, columns: parseNamePatterns(key, String(value)) }
    }),
  )
}

/** The first key with a variable name that is not valid. */
export function columnMaskProblem(
  config: Readonly<Record<string, unknown>>,
): { readonly key: string; readonly message: string } | undefined {
  for (const [key, value] of Object.entries(config)) {
    try {
      parseColumnMasks({ [key]: value })
    } catch (error) {
      return { key, message: (error as Error).message }
    }
  }
  return undefined
}

function parseTruncation(key: string): ColumnMask['apply'] | undefined {
  const [, digits] = TRUNCATION.exec(key) ?? []
  if (digits === undefined) return undefined
  const lengthMax = Number(digits)
  const cut = (value: unknown) => {
    if (typeof value === 'string') return value.slice(0, lengthMax)
    return value instanceof Uint8Array ? value.subarray(0, lengthMax) : value
  }
  return (decoding, { length }) => {
    if (length <= lengthMax) return decoding
    const { schema, decode, absent } = decoding
    const isCut = schema.type === 'string' || (schema.type === 'bytes' && schema.name === undefined)
    return {
      schema: withParameters(schema, { truncateLength: digits }),
      decode: isCut ? (text) => cut(decode(text)) : decode,
      absent,
    }
  }
}

function parseLengthMask(key: string): ColumnMask['apply'] | undefined {
  const [, length] = LENGTH_MASK.exec(key) ?? []
  if (length === undefined) return undefined
  const mask = '*'.repeat(Number(length))
  return ({ schema, decode, absent }, { isCharacters }) => ({
    schema: withParameters(schema, MASKED),
    decode: isCharacters ? () => mask : decode,
    absent: isCharacters ? mask : absent,
  })
}

/** A hash has at most as many characters as the column. */
function parseHash(key: string): ColumnMask['apply'] | undefined {
  const [, version, algorithm, salt] = HASH_MASK.exec(key) ?? []
  if (algorithm === undefined) return undefined
  const hash = hashing(key, algorithm, salt!, version !== undefined)
  return ({ schema, decode, absent }, { length, isCharacters }) => ({
    schema: withParameters(schema, MASKED),
    decode: isCharacters ? (text) => hash(decode(text) as string).slice(0, length) : decode,
    absent,
  })
}

function withParameters(schema: Schema, parameters: NonNullable<Schema['parameters']>): Schema {
  return { ...schema, parameters: { ...schema.parameters, ...parameters } }
}

/** The first version of Debezium's hash is of the string as Java serializes it. */
function hashing(key: string, name: string, salt: string, isPlain: boolean): (text: string) => string {
  const algorithm = getHashes().find(
    (known) => known.toLowerCase() === name.toLowerCase().replace(/^sha-(?=\d)/, 'sha'),
  )
  if (algorithm === undefined) throw new Error(`${key}: the algorithm '${name}' is not known: use SHA-256 or MD5`)
  return (text) =>
    createHash(algorithm)
      .update(salt)
      .update(isPlain ? text : javaSerialized(text))
      .digest('hex')
}

const SERIALIZATION_HEADER = Buffer.from([0xac, 0xed, 0x00, 0x05])
const STRING_MARK = 0x74
const LONG_STRING_MARK = 0x7c
const STRING_BYTES_MAX = 0xffff

/** A string in the format of Java's `ObjectOutputStream`. */
function javaSerialized(text: string): Buffer {
  const bytes = modifiedUtf8(text)
  const isLong = bytes.length > STRING_BYTES_MAX
  const head = Buffer.alloc(isLong ? 9 : 3)
  head.writeUInt8(isLong ? LONG_STRING_MARK : STRING_MARK, 0)
  if (isLong) head.writeBigUInt64BE(BigInt(bytes.length), 1)
  else head.writeUInt16BE(bytes.length, 1)
  return Buffer.concat([SERIALIZATION_HEADER, head, bytes])
}

/** Java writes the halves of a surrogate pair as three bytes each. PostgreSQL's texts have no NUL. */
function modifiedUtf8(text: string): Buffer {
  if (!/[\ud800-\udfff]/.test(text)) return Buffer.from(text)
  const bytes: number[] = []
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) bytes.push(unit)
    else if (unit < 0x800) bytes.push(0xc0 | (unit >> 6), 0x80 | (unit & 0x3f))
    else bytes.push(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f))
  }
  return Buffer.from(bytes)
}
