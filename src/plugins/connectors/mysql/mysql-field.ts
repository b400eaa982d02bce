import type { ResultField } from '../jdbc/row-cursor.ts'

/** A column of a result, as described by the server. Its type is identified by the number in the protocol. */
export type MysqlField = ResultField & {
  /** Number of the collation; 63 for binary data. */
  readonly collationId: number
  readonly flags: number
  /** Display length in bytes of the result's character set. */
  readonly length: number
  /** Digits behind the decimal point; 31 or 39 if it is not fixed. */
  readonly decimals: number
  /** MariaDB's name of a type that other servers do not have, such as `uuid`. */
  readonly extendedType: string | undefined
  /** `json` for columns of MariaDB that contain JSON. */
  readonly format: string | undefined
}

export function toMysqlField(field: object): MysqlField {
  // The published types lack some properties that the documentation names.
  const { name, columnType, characterSet, flags, columnLength, decimals, extendedTypeName, extendedFormat } = field as {
    readonly name: string
    readonly columnType: number
    readonly characterSet: number
    readonly flags: number
    readonly columnLength: number
    readonly decimals: number
    readonly extendedTypeName?: string
    readonly extendedFormat?: string
  }
  return {
    name,
    typeId: columnType,
    collationId: characterSet,
    flags,
    length: columnLength,
    decimals,
    extendedType: extendedTypeName,
    format: extendedFormat,
  }
}
