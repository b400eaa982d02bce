import type { Schema } from '../../../../../sdk/index.ts'
import type { MaskedColumn } from '../../../cdc/config/column-masks.ts'
import type { ColumnField, ColumnFields } from '../../../cdc/events/event-dialect.ts'
import { zeroValue } from '../../../cdc/values/zero-value.ts'
import { hasCharset } from '../ddl/column-type.ts'
import type { HistoryColumn } from '../table-model.ts'
import { defaultText } from './default-text.ts'
import { mysqlRepresentationOf } from './mysql-representations.ts'
import type { MysqlValueSettings } from './mysql-value-settings.ts'

const UNLIMITED = 2_147_483_647

/** How the columns of MySQL and MariaDB become fields. */
export class MysqlColumnTypes implements ColumnFields<HistoryColumn> {
  readonly #settings: MysqlValueSettings

  constructor(settings: MysqlValueSettings) {
    this.#settings = settings
  }

  of(column: HistoryColumn): ColumnField | undefined {
    const found = mysqlRepresentationOf(column, this.#settings)
    if (found === undefined) return undefined
    const { schema, decode } = found
    const zero = found.zero ?? zeroValue(schema)
    const { isOptional } = column
    const fallback = defaultOf(column, found.decodeDefault ?? decode)
    return {
      // A date that does not exist, such as 0000-00-00, is no value.
      decode: found.isPartial && !isOptional ? (text) => decode(text) ?? fallback ?? zero : decode,
      zero,
      unavailable: (placeholder) => unavailableValue(schema, placeholder),
      schema: {
        ...schema,
        ...(isOptional && { optional: true }),
        ...(column.comment !== undefined && { doc: column.comment }),
        ...(fallback !== undefined && fallback !== null && { default: fallback }),
      },
    }
  }

  sizeOf(column: HistoryColumn): MaskedColumn {
    return { length: column.length ?? UNLIMITED, isCharacters: hasCharset(column) }
  }

  typeNameOf({ typeName }: HistoryColumn): string {
    return typeName
  }

  parametersOf({ typeName, length, scale, name }: HistoryColumn): Readonly<Record<string, string>> {
    return {
      '__debezium.source.column.type': typeName,
      ...(length !== undefined && { '__debezium.source.column.length': String(length) }),
      ...(scale !== undefined && { '__debezium.source.column.scale': String(scale) }),
      '__debezium.source.column.name': name,
    }
  }
}

function defaultOf(column: HistoryColumn, decode: (text: string) => unknown): unknown {
  const text = defaultText(column)
  if (text === undefined) return undefined
  try {
    return decode(text)
  } catch {
    // A default does not fail a table whose rows can be read.
    return undefined
  }
}

/** What stands for a value that a minimal row image does not have; null if no value could be recognized as a placeholder. */
function unavailableValue(schema: Schema, placeholder: string): unknown {
  if (schema.type === 'string') return placeholder
  return schema.type === 'bytes' && schema.name === undefined ? Buffer.from(placeholder) : null
}
