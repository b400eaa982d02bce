import { LOGICAL, type Schema } from '../../../../sdk/index.ts'
import type { FieldOfColumn } from '../../jdbc/sink/sink-database.ts'

/** The greatest scale of a decimal column that MySQL and MariaDB have in common. */
const SCALE_MAX = 30

/** Keys are compared as in Kafka, where letters of different case are different. */
const TEXT_KEY = 'VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
const TEXT = 'LONGTEXT CHARACTER SET utf8mb4'
const BYTES_KEY = 'VARBINARY(255)'
const BYTES = 'LONGBLOB'

const TYPES: Readonly<Record<string, string>> = {
  int8: 'TINYINT',
  int16: 'SMALLINT',
  int32: 'INT',
  int64: 'BIGINT',
  float32: 'FLOAT',
  float64: 'DOUBLE',
  boolean: 'TINYINT',
  array: 'JSON',
  struct: 'JSON',
  map: 'JSON',
}

/**
 * Returns the type of a column created for a field: that of the JDBC connectors, except that texts and bytes have no small limit, and
 * that a key can be indexed.
 */
export function mysqlColumnType({ schema, isKey, epochUnit }: FieldOfColumn): string {
  if (epochUnit !== undefined) return 'DATETIME(6)'
  switch (schema.name) {
    case LOGICAL.decimal:
      return decimalType(schema, isKey)
    case LOGICAL.date:
      return 'DATE'
    case LOGICAL.time:
      return 'TIME(3)'
    case LOGICAL.timestamp:
      return 'DATETIME(3)'
    default:
      if (schema.type === 'string') return isKey ? TEXT_KEY : TEXT
      if (schema.type === 'bytes') return isKey ? BYTES_KEY : BYTES
      return TYPES[schema.type]!
  }
}

/** A scale that no column has is stored as a text. */
function decimalType(schema: Schema, isKey: boolean): string {
  const scale = Number(schema.parameters?.['scale'] ?? 0)
  if (scale > SCALE_MAX) return isKey ? TEXT_KEY : TEXT
  return `DECIMAL(65,${Math.max(0, scale)})`
}

/** Whether the default of a column of this type must be an expression in parentheses. */
export function isDefaultExpression(field: FieldOfColumn): boolean {
  const type = mysqlColumnType(field)
  return type === TEXT || type === BYTES || type === 'JSON'
}
