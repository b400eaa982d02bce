import { type HistoryColumn, type HistoryTable, type TableChange, type TableId, tableIdKey } from '../table-model.ts'
import type { AlterSpecification, ColumnPlace } from './alter-specification.ts'
import type { ColumnDefinition } from './column-definition.ts'
import { hasCharset } from './column-type.ts'
import { SqlSyntaxError } from './sql-tokens.ts'
import type { Statement } from './statement.ts'
import type { TableDefinition } from './table-definition.ts'

export type TableSchemasOptions = {
  /** Whether the server compares names of tables in lower case. */
  readonly hasLowerCaseNames: boolean
  /** The character set of databases without one of their own. */
  readonly serverCharset: string
}

/** What a statement changed. */
export type AppliedStatement = {
  readonly changes: readonly TableChange[]
  readonly truncated: HistoryTable | undefined
}

const NOTHING: AppliedStatement = { changes: [], truncated: undefined }

/** The structure of tables at one position of the log. */
export class TableSchemas {
  readonly #options: TableSchemasOptions
  readonly #tables = new Map<string, HistoryTable>()
  readonly #charsets = new Map<string, string>()

  constructor(options: TableSchemasOptions) {
    this.#options = options
  }

  get(id: TableId): HistoryTable | undefined {
    return this.#tables.get(this.#keyOf(id))
  }

  get size(): number {
    return this.#tables.size
  }

  get tables(): readonly HistoryTable[] {
    return [...this.#tables.values()]
  }

  setDatabaseCharset(database: string, charset: string): void {
    this.#charsets.set(this.#folded(database), charset)
  }

  /** Applies a change of a schema history. */
  applyChange(change: TableChange): void {
    if (change.type === 'DROP') this.#tables.delete(this.#keyOf(change.id))
    else {
      if (change.type === 'ALTER' && change.previousId !== undefined)
        this.#tables.delete(this.#keyOf(change.previousId))
      this.#tables.set(this.#keyOf(change.table), change.table)
    }
  }

  /**
   * Applies a statement. Throws a `SqlSyntaxError` if it changes a table whose structure is not known; `isNeeded` says for which tables
   * that matters.
   */
  apply(statement: Statement, isNeeded: (id: TableId) => boolean): AppliedStatement {
    switch (statement.kind) {
      case 'create table':
        if (statement.isKept && this.get(statement.id) !== undefined) return NOTHING
        return this.#changed({ type: 'CREATE', table: this.#create(this.#named(statement.id), statement.definition) })
      case 'create like':
        return this.#createLike(statement, isNeeded)
      case 'alter table':
        return this.#alter(statement.id, statement.specifications, isNeeded)
      case 'index':
        return this.#addUniqueKey(statement.id, statement.uniqueKey, isNeeded)
      case 'drop tables':
        return this.#changed(...statement.ids.map((id) => ({ type: 'DROP' as const, id: this.#named(id) })))
      case 'rename tables':
        return this.#rename(statement.renames, isNeeded)
      case 'truncate':
        return { changes: [], truncated: this.#known(statement.id, isNeeded) }
      case 'create database':
        if (statement.charset !== undefined) this.setDatabaseCharset(statement.name, statement.charset)
        return NOTHING
      case 'drop database': {
        const dropped = [...this.#tables.values()].filter(({ schema }) => schema === this.#folded(statement.name))
        for (const table of dropped) this.#tables.delete(this.#keyOf(table))
        return NOTHING
      }
      case 'row statement':
      case 'other':
        return NOTHING
    }
  }

  #changed(...changes: readonly TableChange[]): AppliedStatement {
    for (const change of changes) this.applyChange(change)
    return { changes, truncated: undefined }
  }

  #create({ schema, name }: TableId, definition: TableDefinition): HistoryTable {
    const charsetName = definition.charset ?? this.#charsets.get(schema) ?? this.#options.serverCharset
    const table: HistoryTable = {
      schema,
      name,
      columns: definition.columns.map(({ column }) => withCharset(column, charsetName)),
      keyNames: [],
      charsetName,
      comment: definition.comment,
    }
    const inline = definition.columns.find(({ isUnique }) => isUnique)?.column.name
    const { primaryKey, uniqueKeys } = definition
    if (primaryKey.length > 0) return withPrimaryKey(table, primaryKey)
    if (inline !== undefined) return { ...table, keyNames: [inline] }
    return uniqueKeys.reduce((current, columns) => withUniqueKey(current, columns), table)
  }

  #createLike(
    { id, isKept, original }: Extract<Statement, { readonly kind: 'create like' }>,
    isNeeded: (id: TableId) => boolean,
  ): AppliedStatement {
    if (isKept && this.get(id) !== undefined) return NOTHING
    const found = this.get(original)
    if (found !== undefined) return this.#changed({ type: 'CREATE', table: { ...found, ...this.#named(id) } })
    if (isNeeded(id)) throw new SqlSyntaxError(`the structure of ${original.schema}.${original.name} is not known`)
    return NOTHING
  }

  #alter(
    id: TableId,
    specifications: readonly AlterSpecification[],
    isNeeded: (id: TableId) => boolean,
  ): AppliedStatement {
    const found = this.#known(id, isNeeded)
    if (found === undefined) return NOTHING
    let table = found
    for (const specification of specifications) table = this.#altered(table, specification)
    const isRenamed = this.#keyOf(table) !== this.#keyOf(found)
    return this.#changed({
      type: 'ALTER',
      table,
      ...(isRenamed && { previousId: { schema: found.schema, name: found.name } }),
    })
  }

  /** An index that does not identify rows changes nothing. */
  #addUniqueKey(
    id: TableId,
    columns: readonly string[] | undefined,
    isNeeded: (id: TableId) => boolean,
  ): AppliedStatement {
    const found = columns === undefined ? undefined : this.#known(id, isNeeded)
    const table = found === undefined ? undefined : withUniqueKey(found, columns!)
    return table === found || table === undefined ? NOTHING : this.#changed({ type: 'ALTER', table })
  }

  #altered(table: HistoryTable, specification: AlterSpecification): HistoryTable {
    switch (specification.kind) {
      case 'add column': {
        const { definition, isKept, place } = specification
        const isKnown = indexOf(table, definition.column.name) >= 0
        if (isKnown && isKept) return table
        return withDefinition(table, isKnown ? definition.column.name : undefined, definition, place)
      }
      case 'change column': {
        const { oldName, definition, isOptional, place } = specification
        if (indexOf(table, oldName) >= 0) return withDefinition(table, oldName, definition, place)
        if (isOptional || indexOf(table, definition.column.name) >= 0) return table
        throw new SqlSyntaxError(`the table ${table.schema}.${table.name} has no column ${oldName}`)
      }
      case 'rename column':
        return renamed(table, specification.oldName, specification.newName)
      case 'drop column':
        return {
          ...table,
          columns: table.columns.filter(({ name }) => !isSame(name, specification.name)),
          keyNames: table.keyNames.filter((name) => !isSame(name, specification.name)),
        }
      case 'set default':
        return withColumn(table, specification.name, (column) => ({
          ...column,
          defaultExpression: specification.expression,
        }))
      case 'add primary key':
        return withPrimaryKey(table, specification.columns)
      case 'drop primary key':
        return { ...table, keyNames: [] }
      case 'add unique key':
        return withUniqueKey(table, specification.columns)
      case 'rename table':
        return { ...table, ...this.#named(specification.to) }
      case 'convert charset':
        return converted(
          table,
          specification.charset ?? this.#charsets.get(table.schema) ?? this.#options.serverCharset,
        )
      case 'options': {
        const { charset = table.charsetName, comment = table.comment } = specification
        return { ...table, charsetName: charset, comment }
      }
    }
  }

  #rename(
    renames: Extract<Statement, { readonly kind: 'rename tables' }>['renames'],
    isNeeded: (id: TableId) => boolean,
  ): AppliedStatement {
    // Each rename is applied before the next one: tables may exchange their names.
    const changes = renames.flatMap(({ from, to }): readonly TableChange[] => {
      const found = this.get(from)
      if (found === undefined) {
        if (isNeeded(to) && this.get(to) === undefined) throw unknownTable(from)
        return []
      }
      const previousId = { schema: found.schema, name: found.name }
      const change: TableChange = { type: 'ALTER', table: { ...found, ...this.#named(to) }, previousId }
      this.applyChange(change)
      return [change]
    })
    return { changes, truncated: undefined }
  }

  #known(id: TableId, isNeeded: (id: TableId) => boolean): HistoryTable | undefined {
    const found = this.get(id)
    if (found === undefined && isNeeded(id)) throw unknownTable(id)
    return found
  }

  #named({ schema, name }: TableId): TableId {
    return { schema: this.#folded(schema), name: this.#folded(name) }
  }

  #folded(name: string): string {
    return this.#options.hasLowerCaseNames ? name.toLowerCase() : name
  }

  #keyOf(id: TableId): string {
    return tableIdKey(this.#named(id))
  }
}

function unknownTable({ schema, name }: TableId): SqlSyntaxError {
  return new SqlSyntaxError(`the structure of the table ${schema}.${name} is not known`)
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function indexOf({ columns }: HistoryTable, wanted: string): number {
  return columns.findIndex(({ name }) => isSame(name, wanted))
}

function withCharset(column: HistoryColumn, charset: string | undefined): HistoryColumn {
  return hasCharset(column) && column.charsetName === undefined ? { ...column, charsetName: charset } : column
}

function withColumn(table: HistoryTable, name: string, change: (column: HistoryColumn) => HistoryColumn): HistoryTable {
  return { ...table, columns: table.columns.map((column) => (isSame(column.name, name) ? change(column) : column)) }
}

/** Puts a column where it is defined to be, instead of `oldName` if that is given. */
function withDefinition(
  table: HistoryTable,
  oldName: string | undefined,
  { column: defined, isPrimaryKey, isUnique }: ColumnDefinition,
  place: ColumnPlace,
): HistoryTable {
  const column = withCharset(defined, table.charsetName)
  const columns = [...table.columns]
  const oldIndex = oldName === undefined ? columns.length : indexOf(table, oldName)
  if (place === undefined) columns.splice(oldIndex, 1, column)
  else {
    if (oldName !== undefined) columns.splice(oldIndex, 1)
    const { after } = place
    const before = after === undefined ? -1 : columns.findIndex(({ name }) => isSame(name, after))
    if (after !== undefined && before < 0) {
      throw new SqlSyntaxError(`the table ${table.schema}.${table.name} has no column ${after}`)
    }
    columns.splice(before + 1, 0, column)
  }
  const keyNames = table.keyNames.map((name) => (oldName !== undefined && isSame(name, oldName) ? column.name : name))
  const changed = { ...table, columns, keyNames }
  // A column of the key is never optional.
  if (keyNames.includes(column.name)) return withColumn(changed, column.name, (one) => ({ ...one, isOptional: false }))
  if (isPrimaryKey) return withPrimaryKey(changed, [column.name])
  return isUnique && keyNames.length === 0 ? { ...changed, keyNames: [column.name] } : changed
}

function renamed(table: HistoryTable, oldName: string, newName: string): HistoryTable {
  const changed = withColumn(table, oldName, (column) => ({ ...column, name: newName }))
  return { ...changed, keyNames: table.keyNames.map((name) => (isSame(name, oldName) ? newName : name)) }
}

function withPrimaryKey(table: HistoryTable, names: readonly string[]): HistoryTable {
  const keyNames = names.map((name) => table.columns[indexOf(table, name)]?.name ?? name)
  const columns = table.columns.map((column) => {
    if (!keyNames.includes(column.name) || !column.isOptional) return column
    const { defaultExpression } = column
    return {
      ...column,
      isOptional: false,
      defaultExpression: defaultExpression === null ? undefined : defaultExpression,
    }
  })
  return { ...table, columns, keyNames }
}

/** A unique key identifies rows if there is no primary key and none of its columns is optional. */
function withUniqueKey(table: HistoryTable, names: readonly string[]): HistoryTable {
  if (table.keyNames.length > 0) return table
  const columns = names.map((name) => table.columns[indexOf(table, name)])
  const isKey = columns.every((column) => column !== undefined && !column.isOptional)
  return isKey ? { ...table, keyNames: columns.map((column) => column!.name) } : table
}

function converted(table: HistoryTable, charset: string): HistoryTable {
  const columns = table.columns.map((column) => (hasCharset(column) ? { ...column, charsetName: charset } : column))
  return { ...table, columns, charsetName: charset }
}
