import { DataError } from '../../../../../sdk/index.ts'
import type { MaskedColumn } from '../../../cdc/config/column-masks.ts'
import type { ColumnField, ColumnFields } from '../../../cdc/events/event-dialect.ts'
import { type BytesType, bytesType } from '../../../cdc/values/value-type.ts'
import { zeroValue } from '../../../cdc/values/zero-value.ts'
import type { Session } from '../../session.ts'
import type { Column } from '../changes/change.ts'
import { defaultValue } from './default-value.ts'
import { columnLength, sourceParameters } from './source-parameters.ts'
import { TypeCatalog } from './type-catalog.ts'
import { representationOf } from './type-representations.ts'
import { unavailableValue } from './unavailable-value.ts'
import type { ValueSettings } from './value-settings.ts'

/** The types of columns, as the server's catalog describes them. */
export class ColumnTypes implements ColumnFields<Column> {
  readonly catalog: TypeCatalog
  /** How bytes are represented that are not in a column, such as the content of a logical message. */
  readonly bytes: BytesType
  readonly #settings: ValueSettings

  constructor(catalog: TypeCatalog, settings: ValueSettings) {
    this.bytes = bytesType(settings.binary)
    this.catalog = catalog
    this.#settings = settings
  }

  static async open(session: Session, settings: ValueSettings): Promise<ColumnTypes> {
    return new ColumnTypes(await TypeCatalog.read(session), settings)
  }

  /** Reads types that were created since. Call it with the types of a table before its first row. */
  load(session: Session, typeIds: Iterable<number>): Promise<void> {
    return this.catalog.load(session, typeIds)
  }

  sizeOf(column: Column): MaskedColumn {
    return { length: columnLength(column, this.catalog), isCharacters: isCharacters(column.typeId, this.catalog) }
  }

  typeNameOf({ typeId }: Column): string {
    return this.catalog.get(typeId)?.name ?? ''
  }

  parametersOf(column: Column): Readonly<Record<string, string>> {
    return sourceParameters(column, this.catalog)
  }

  of(column: Column): ColumnField | undefined {
    const type = this.catalog.get(column.typeId)
    const found = representationOf(type, column.modifier, this.#settings, this.catalog)
    if (found === undefined) return undefined
    const { defaultExpression: expression, isOptional } = column
    const fallback =
      expression === undefined || type === undefined
        ? undefined
        : defaultValue({ name: type.name, isEnum: type.kind === 'enum', modifier: column.modifier }, found, expression)
    return {
      decode: found.isPartial && !isOptional ? rejectingNull(column.name, found.decode) : found.decode,
      zero: found.zero ?? zeroValue(found.schema),
      unavailable: found.unavailable ?? ((placeholder) => unavailableValue(found.schema, placeholder)),
      schema: {
        ...found.schema,
        ...(isOptional && { optional: true }),
        ...(fallback !== undefined && fallback !== null && { default: fallback }),
      },
    }
  }
}

/** Debezium masks no `citext`, although the schema of the column says so. */
const CHARACTER_TYPES = new Set(['text', 'varchar', 'bpchar', 'char', 'name', 'citext'])

function isCharacters(typeId: number, catalog: TypeCatalog): boolean {
  const type = catalog.get(typeId)
  if (type?.kind === 'domain') return isCharacters(type.baseId, catalog)
  return type?.kind === 'enum' || CHARACTER_TYPES.has(type?.name ?? '')
}

function rejectingNull(name: string, decode: (text: string) => unknown): (text: string) => unknown {
  return (text) => {
    const value = decode(text)
    if (value !== null) return value
    throw new DataError(
      `column ${name}: ${text} is no decimal, and the column is NOT NULL: set decimal.handling.mode to double or string`,
    )
  }
}
