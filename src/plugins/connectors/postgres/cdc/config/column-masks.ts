import { createHash, getHashes } from 'node:crypto'
import type { JavaPattern } from '../../../../../java-compat/java-regex.ts'
import type { Schema } from '../../../../../sdk/index.ts'
import { parseNamePatterns } from './name-patterns.ts'

/** A rule of a key with a variable name, such as `column.mask.with.5.chars`. */
export type ColumnMask = {
  readonly columns: readonly JavaPattern[]
  /** Added to the schema of columns. */
  readonly parameters: NonNullable<Schema['parameters']>
  /** Converts the text of a character column. */
  readonly convert: (text: string) => string
  /** What NULL becomes. */
  readonly absent: string | null
}

const LENGTH_MASK = /^column\.mask\.with\.(\d+)\.chars$/
const HASH_MASK = /^column\.mask\.hash\.(v2\.)?([^.]+)\.with\.salt\.(.+)$/
const TRUNCATION = /^column\.truncate\.to\.(\d+)\.chars$/
const MASKED = { masked: 'true' }

/** Parses the masks of a configuration. Throws an `Error` that names the key. */
export function parseColumnMasks(config: Readonly<Record<string, unknown>>): readonly ColumnMask[] {
  return Object.entries(config).flatMap(([key, value]) => {
    const mask = key.startsWith('column.') ? parseMask(key) : undefined
    return mask === undefined ? [] : { ...mask, columns: parseNamePatterns(key, String(value)) }
  })
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

/** Undefined for other keys. */
function parseMask(key: string): Omit<ColumnMask, 'columns'> | undefined {
  const [, maskLength] = LENGTH_MASK.exec(key) ?? []
  if (maskLength !== undefined) {
    const mask = '*'.repeat(Number(maskLength))
    return { parameters: MASKED, convert: () => mask, absent: mask }
  }
  const [, lengthMax] = TRUNCATION.exec(key) ?? []
  if (lengthMax !== undefined) {
    const convert = (text: string) => text.slice(0, Number(lengthMax))
    return { parameters: { truncateLength: lengthMax }, convert, absent: null }
  }
  const [, version, algorithm, salt] = HASH_MASK.exec(key) ?? []
  if (algorithm === undefined) return undefined
  return { parameters: MASKED, convert: hashing(key, algorithm, salt!, version !== undefined), absent: null }
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
