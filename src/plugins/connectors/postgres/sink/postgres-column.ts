import type { ColumnForm, SinkColumn } from '../../jdbc/sink/sink-column.ts'
import type { FieldOfColumn, FormOptions } from '../../jdbc/sink/sink-database.ts'
import { type BinaryType, binaryTypeOf } from './binary-type.ts'
import { cellWriter, columnType, defaultLiteral, epochWriter } from './cell-writer.ts'

export type PostgresForm = {
  /** Returns how the values are sent to a column of this type in binary format; undefined if they are sent as text. */
  readonly binaryType: (columnType: string) => BinaryType | undefined
}

export type PostgresColumn = SinkColumn<PostgresForm>

/** Returns how the values of a field are written. */
export function toPostgresForm({ schema, epochUnit }: FieldOfColumn, options: FormOptions): ColumnForm<PostgresForm> {
  if (epochUnit !== undefined) {
    return {
      type: 'timestamp',
      fallback: undefined,
      write: epochWriter(epochUnit, options.zone),
      form: { binaryType: () => undefined },
    }
  }
  return {
    type: columnType(schema),
    fallback: defaultLiteral(schema),
    write: cellWriter(schema, options),
    form: { binaryType: (type) => binaryTypeOf(schema, type, options) },
  }
}
