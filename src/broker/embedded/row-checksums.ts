import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { OFFSET_BITS, OFFSET_MASK } from './database-format.ts'

/*
 * The table `checksums` says what the database must contain. It has the number of the last commit, the id of the data
 * directory, and for each table the sum of the checksums of its rows. Temporary triggers keep the sums up to date, so
 * they change in the transaction that changes the rows. A row that is changed, missing or from an earlier time
 * contradicts its sum, which the checks of SQLite do not detect.
 */

/** Expressions of the columns of each table. Each begins with the name of a column, which a trigger qualifies. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  settings: ['name', 'value'],
  topics: ['id', 'name', 'configs'],
  partitions: ['id', 'topic_id', 'number', 'start_offset', 'end_floor', 'clean_offset', 'clean_bytes'],
  open_batches: [`id >> ${OFFSET_BITS}`, `id & ${OFFSET_MASK}`, 'transactional_id'],
  doomed: ['partition_id'],
  transactional_ids: ['name', 'producer_id', 'epoch'],
  groups: ['name', 'protocol_type', 'generation'],
  group_offsets: ['group_name', 'topic', 'partition', 'offset', 'metadata'],
}

/**
 * The numbers of a batch are added, because a call of JavaScript for each would take longer than the rest of a start. The
 * bytes of a batch have a checksum of their own.
 */
const PRIME = 2 ** 32 - 5
const BATCH_NUMBERS = ['id', 'last_offset', 'max_timestamp_ms', 'appended_ms']

const TABLES = [...Object.keys(COLUMNS), 'batches']

/** Columns of `sqlite_schema` without the page numbers, which SQLite may change. */
const SCHEMA_COLUMNS = ['type', 'name', 'tbl_name', 'sql']

/** Creates the functions and triggers of this connection. */
export function installChecksums(sqlite: DatabaseSync): void {
  installFunction(sqlite)
  const add = (table: string, sign: '+' | '-', row: 'new' | 'old') =>
    `update main.checksums set value = value ${sign} ${checksumOf(table, `${row}.`)} where name = '${table}';`
  for (const table of TABLES) {
    const changed = table === 'batches' ? ` of ${BATCH_NUMBERS.join(', ')}` : ''
    sqlite.exec(`
      create temp trigger ${table}_inserted after insert on main.${table} begin ${add(table, '+', 'new')} end;
      create temp trigger ${table}_deleted after delete on main.${table} begin ${add(table, '-', 'old')} end;
      create temp trigger ${table}_updated after update${changed} on main.${table}
        begin ${add(table, '-', 'old')} ${add(table, '+', 'new')} end;
    `)
  }
}

/** Fills the table `checksums` of a database that has none, in the transaction of the caller. */
export function storeChecksums(sqlite: DatabaseSync, directoryId: string): void {
  installFunction(sqlite)
  const insert = sqlite.prepare('insert into checksums (name, value) values (?, ?)')
  for (const [table, sum] of sumsOf(sqlite)) insert.run(table, sum)
  insert.run('commit', 1)
  insert.run('directory', directoryId)
}

/** What the table `checksums` says. */
export type StoredChecksums = { readonly commit: number; readonly directoryId: string }

export function readChecksums(sqlite: DatabaseSync): StoredChecksums {
  const value = sqlite.prepare('select value from checksums where name = ?')
  return { commit: Number(value.get('commit')?.['value']), directoryId: String(value.get('directory')?.['value']) }
}

/** The tables whose rows contradict their checksum. */
export function findChangedTables(sqlite: DatabaseSync): readonly string[] {
  installFunction(sqlite)
  const stored = sqlite.prepare('select value from checksums where name = ?')
  return [...sumsOf(sqlite)].filter(([table, sum]) => stored.get(table)?.['value'] !== sum).map(([table]) => table)
}

function* sumsOf(sqlite: DatabaseSync): Generator<readonly [table: string, sum: number]> {
  for (const table of [...TABLES, 'sqlite_schema']) {
    const row = sqlite.prepare(`select ifnull(sum(${checksumOf(table, '')}), 0) as sum from ${table}`).get()
    yield [table, Number(row?.['sum'])]
  }
}

function checksumOf(table: string, row: string): string {
  if (table === 'batches') return `(${BATCH_NUMBERS.map((column) => `${row}${column} % ${PRIME}`).join(' + ')})`
  const columns = COLUMNS[table] ?? SCHEMA_COLUMNS
  return `row_checksum('${table}', ${columns.map((column) => row + column).join(', ')})`
}

function installFunction(sqlite: DatabaseSync): void {
  sqlite.function('row_checksum', { deterministic: true, varargs: true }, (...values) => crc32(JSON.stringify(values)))
}
