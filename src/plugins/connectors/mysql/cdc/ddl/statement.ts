import type { TableId } from '../table-model.ts'
import { type AlterSpecification, readAlterSpecification } from './alter-specification.ts'
import { type SqlModes, sqlTokens } from './sql-tokens.ts'
import { readTableDefinition, type TableDefinition } from './table-definition.ts'
import { isKeyword, splitAtCommas, TokenReader } from './token-reader.ts'

/** `text`: the names as they are in the statement. */
export type TableRename = { readonly from: TableId; readonly to: TableId; readonly text: string }

/** A statement of the binary log, as far as it concerns the structure or the rows of tables. */
export type Statement =
  | {
      readonly kind: 'create table'
      readonly id: TableId
      readonly isKept: boolean
      readonly definition: TableDefinition
    }
  | { readonly kind: 'create like'; readonly id: TableId; readonly isKept: boolean; readonly original: TableId }
  | { readonly kind: 'alter table'; readonly id: TableId; readonly specifications: readonly AlterSpecification[] }
  | { readonly kind: 'drop tables'; readonly ids: readonly TableId[] }
  | { readonly kind: 'rename tables'; readonly renames: readonly TableRename[] }
  | { readonly kind: 'truncate'; readonly id: TableId }
  | { readonly kind: 'index'; readonly id: TableId; readonly uniqueKey: readonly string[] | undefined }
  | { readonly kind: 'create database'; readonly name: string; readonly charset: string | undefined }
  | { readonly kind: 'drop database'; readonly name: string }
  /**
   * May change rows, in a log that does not have them as rows: those of one table, or, if that is not certain, of any table in these
   * databases.
   */
  | { readonly kind: 'row statement'; readonly id: TableId | undefined; readonly databases: readonly string[] }
  | { readonly kind: 'other' }

const MODE_ANSI_QUOTES = 4n
const MODE_NO_BACKSLASH_ESCAPES = 1n << 20n

export function modesOf(sqlMode: bigint): SqlModes {
  return {
    hasAnsiQuotes: (sqlMode & MODE_ANSI_QUOTES) !== 0n,
    hasNoBackslashEscapes: (sqlMode & MODE_NO_BACKSLASH_ESCAPES) !== 0n,
  }
}

/** A statement without the settings of MariaDB that apply to it alone. */
export function withoutSettings(sql: string): string {
  return sql.trim().replace(/^set\s+statement\s+.*?\s+for\s+/is, '')
}

/** Parses a statement with the database in which it was executed. Throws a `SqlSyntaxError` for one that it cannot read. */
export function parseStatement(sql: string, database: string, modes: SqlModes): Statement {
  const text = withoutSettings(sql)
  const [first] = sqlTokens(text, modes, 1)
  // Other statements are not read further: they may be large.
  if (ROW_STATEMENTS.some((word) => isKeyword(first, word)) || first?.value === '(') {
    return readRowStatement(text, database, modes)
  }
  if (!STRUCTURE_STATEMENTS.some((word) => isKeyword(first, word))) return { kind: 'other' }
  const reader = new TokenReader(sqlTokens(text, modes))
  if (reader.accept('CREATE')) return readCreate(reader, database)
  if (reader.accept('ALTER')) return readAlter(reader, database)
  if (reader.accept('DROP')) return readDrop(reader, database)
  if (reader.accept('RENAME', 'TABLE') || reader.accept('RENAME', 'TABLES')) return readRename(reader, database, text)
  if (!reader.accept('TRUNCATE')) return { kind: 'other' }
  reader.accept('TABLE')
  return { kind: 'truncate', id: reader.tableId(database) }
}

function readCreate(reader: TokenReader, database: string): Statement {
  const isReplaced = reader.accept('OR', 'REPLACE')
  if (reader.acceptOne('DATABASE', 'SCHEMA') !== undefined) {
    reader.accept('IF', 'NOT', 'EXISTS')
    return { kind: 'create database', name: reader.name(), charset: readDatabaseCharset(reader) }
  }
  if (reader.accept('TABLE')) return readCreateTable(reader, database, isReplaced)
  const isUnique = reader.accept('UNIQUE')
  reader.acceptOne('ONLINE', 'OFFLINE', 'FULLTEXT', 'SPATIAL', 'VECTOR')
  if (!reader.accept('INDEX')) return { kind: 'other' }
  reader.accept('IF', 'NOT', 'EXISTS')
  while (!reader.accept('ON')) reader.take()
  const id = reader.tableId(database)
  const columns = reader.isAtSymbol('(') ? keyColumns(reader) : []
  return { kind: 'index', id, uniqueKey: isUnique ? columns : undefined }
}

function readCreateTable(reader: TokenReader, database: string, isReplaced: boolean): Statement {
  const isKept = reader.accept('IF', 'NOT', 'EXISTS') && !isReplaced
  const id = reader.tableId(database)
  if (reader.accept('LIKE')) return { kind: 'create like', id, isKept, original: reader.tableId(database) }
  if (reader.isAtSymbol('(') && reader.peek(1)?.value.toUpperCase() === 'LIKE' && reader.peek(1)?.kind === 'word') {
    const inner = new TokenReader(reader.parentheses(), 1)
    return { kind: 'create like', id, isKept, original: inner.tableId(database) }
  }
  return { kind: 'create table', id, isKept, definition: readTableDefinition(reader) }
}

function readDatabaseCharset(reader: TokenReader): string | undefined {
  while (!reader.isAtEnd) {
    if (reader.accept('CHARACTER', 'SET') || reader.accept('CHARSET')) {
      reader.acceptSymbol('=')
      return reader.name().toLowerCase()
    }
    reader.take()
  }
  return undefined
}

function readAlter(reader: TokenReader, database: string): Statement {
  if (reader.acceptOne('DATABASE', 'SCHEMA') !== undefined) {
    // Without a name it is the present database.
    const isNamed = !reader.isAt('CHARACTER') && !reader.isAt('DEFAULT') && !reader.isAt('COLLATE')
    return { kind: 'create database', name: isNamed ? reader.name() : database, charset: readDatabaseCharset(reader) }
  }
  while (reader.acceptOne('ONLINE', 'OFFLINE', 'IGNORE') !== undefined);
  if (!reader.accept('TABLE')) return { kind: 'other' }
  reader.accept('IF', 'EXISTS')
  const id = reader.tableId(database)
  if (!reader.accept('NOWAIT') && reader.accept('WAIT')) reader.take()
  const rest = []
  while (!reader.isAtEnd) rest.push(reader.take())
  const specifications = splitAtCommas(rest).flatMap((part) => readAlterSpecification(new TokenReader(part), id.schema))
  return { kind: 'alter table', id, specifications }
}

function readDrop(reader: TokenReader, database: string): Statement {
  if (reader.acceptOne('DATABASE', 'SCHEMA') !== undefined) {
    reader.accept('IF', 'EXISTS')
    return { kind: 'drop database', name: reader.name() }
  }
  // Rows of temporary tables are not in the log, and a table of the same name is not dropped.
  if (reader.isAt('TEMPORARY')) return { kind: 'other' }
  if (reader.acceptOne('TABLE', 'TABLES') !== undefined) {
    reader.accept('IF', 'EXISTS')
    const ids = [reader.tableId(database)]
    while (reader.acceptSymbol(',')) ids.push(reader.tableId(database))
    return { kind: 'drop tables', ids }
  }
  if (!reader.accept('INDEX')) return { kind: 'other' }
  while (!reader.accept('ON')) reader.take()
  return { kind: 'index', id: reader.tableId(database), uniqueKey: undefined }
}

function readRename(reader: TokenReader, database: string, sql: string): Statement {
  const renames: TableRename[] = []
  do {
    reader.accept('IF', 'EXISTS')
    const start = reader.next?.start ?? 0
    const from = reader.tableId(database)
    while (!reader.accept('TO')) reader.take()
    const to = reader.tableId(database)
    renames.push({ from, to, text: sql.slice(start, reader.next?.start).trim() })
  } while (reader.acceptSymbol(','))
  return { kind: 'rename tables', renames }
}

const STRUCTURE_STATEMENTS = ['CREATE', 'ALTER', 'DROP', 'RENAME', 'TRUNCATE'] as const
/** Those of functions may change any table. */
const ROW_STATEMENTS = ['INSERT', 'REPLACE', 'UPDATE', 'DELETE', 'LOAD', 'WITH', 'CALL', 'DO', 'SELECT'] as const
const MODIFIERS = ['LOW_PRIORITY', 'DELAYED', 'HIGH_PRIORITY', 'IGNORE', 'INTO'] as const
/** An INSERT names its table within so many tokens. */
const INSERT_TOKENS = 16

function readRowStatement(sql: string, database: string, modes: SqlModes): Statement {
  const reader = new TokenReader(sqlTokens(sql, modes, INSERT_TOKENS))
  if (reader.acceptOne('INSERT', 'REPLACE') !== undefined) {
    while (reader.acceptOne(...MODIFIERS) !== undefined);
    return { kind: 'row statement', id: reader.tableId(database), databases: [] }
  }
  const tokens = sqlTokens(sql, modes)
  const named = tokens.filter((_, index) => tokens[index + 1]?.kind === 'symbol' && tokens[index + 1]?.value === '.')
  return { kind: 'row statement', id: undefined, databases: [database, ...new Set(named.map(({ value }) => value))] }
}

/** The columns of a key, without lengths and directions; a part that is an expression is left out. */
function keyColumns(reader: TokenReader): readonly string[] {
  return splitAtCommas(reader.parentheses()).flatMap((part) => {
    const [first] = part
    return first !== undefined && first.kind !== 'symbol' ? first.value : []
  })
}
