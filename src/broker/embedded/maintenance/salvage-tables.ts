import type { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../../common/errors.ts'
import { OFFSET_MASK, PARTITION_ID_MAX } from '../database-format.ts'
import { checkTopicName } from '../topic-catalog.ts'
import { checkConfigs } from '../topic-config.ts'

/** All tables except `batches` and `doomed`: they are small, and copied row by row. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  topics: ['id', 'name', 'configs'],
  partitions: ['id', 'topic_id', 'number', 'start_offset', 'end_floor', 'clean_offset', 'clean_bytes'],
  transactional_ids: ['name', 'producer_id', 'epoch'],
  groups: ['name', 'protocol_type', 'generation'],
  group_offsets: ['group_name', 'topic', 'partition', 'offset', 'metadata'],
  open_batches: ['id', 'transactional_id'],
  settings: ['name', 'value'],
}

/** Added to the next producer id, because the recovered value may be older than the last id that was assigned. */
const PRODUCER_IDS_SKIPPED = 100_000

/** Keeps all records: retention or compaction of a topic whose configuration is lost would delete what was recovered. */
export const KEEP_ALL = JSON.stringify({ 'retention.ms': '-1' })

/**
 * Copies the small tables of a damaged database. Rows that cannot be right are repaired or left out, and noted. Tables with a
 * page in `damagedPages` are noted, because a row of such a page may be wrong without a sign of it.
 */
export function copyTables(
  from: DatabaseSync,
  to: DatabaseSync,
  damagedPages: ReadonlySet<number>,
  notes: string[],
): void {
  for (const [table, columns] of Object.entries(TABLES)) {
    copyTable(from, to, table, columns, notes)
    if (pagesOf(from, table).some((page) => damagedPages.has(page)))
      notes.push(`table ${table} has a damaged page: its rows may be wrong or missing`)
  }
  repairTopics(to, notes)
  repairPartitions(to, notes)
  skipProducerIds(to)
}

/** The partitions of deleted topics. Their batches are not copied, so nothing is left to delete. */
export function deletedPartitionsIn(from: DatabaseSync, notes: string[]): ReadonlySet<number> {
  try {
    const rows = from.prepare('select partition_id from doomed').all()
    return new Set(rows.map((row) => Number(row['partition_id'])))
  } catch (error) {
    notes.push(`table doomed cannot be read, so records of deleted topics may be recovered: ${messageOf(error)}`)
    return new Set()
  }
}

/** New partitions get ids after these. */
export function reservePartitionIds(to: DatabaseSync, ids: Iterable<number>): void {
  let last = 0
  for (const id of ids) last = Math.max(last, id)
  to.prepare("delete from sqlite_sequence where name = 'partitions' and seq < ?").run(last)
  to.prepare(
    `insert into sqlite_sequence (name, seq)
     select 'partitions', ? where not exists (select 1 from sqlite_sequence where name = 'partitions')`,
  ).run(last)
}

/** A topic finds its partitions by their numbers, so each number below the last one must exist. */
export function fillPartitionNumbers(to: DatabaseSync, notes: string[]): void {
  const rows = to
    .prepare(
      'select topics.id, name, number from topics join partitions on topics.id = topic_id order by topics.id, number',
    )
    .all()
  const insert = to.prepare('insert into partitions (topic_id, number) values (?, ?)')
  let next = { id: -1, number: 0 }
  for (const row of rows) {
    const [id, number] = [Number(row['id']), Number(row['number'])]
    for (let missing = next.id === id ? next.number : 0; missing < number; missing++) {
      insert.run(id, missing)
      notes.push(
        `partition ${missing} of topic '${row['name']}' was lost and is empty now; its records, if they can be read, are in a topic recovered-ID`,
      )
    }
    next = { id, number: number + 1 }
  }
}

function copyTable(
  from: DatabaseSync,
  to: DatabaseSync,
  table: string,
  columns: readonly string[],
  notes: string[],
): void {
  const insert = to.prepare(
    `insert or replace into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
  )
  // Reads from both ends; rows between two unreadable pages are not recovered.
  for (const order of ['', 'desc']) {
    try {
      const keys = order === '' ? '' : ` order by ${columns[0]} ${order}`
      for (const row of from.prepare(`select ${columns.join(', ')} from ${table}${keys}`).iterate()) {
        insert.run(...columns.map((column) => row[column] as never))
      }
      return
    } catch (error) {
      if (order === '') notes.push(`table ${table} cannot be read completely: ${messageOf(error)}`)
    }
  }
}

function pagesOf(from: DatabaseSync, table: string): readonly number[] {
  try {
    const rows = from.prepare('select pageno from dbstat where name = ?').all(table)
    return rows.map((row) => Number(row['pageno']))
  } catch {
    return [] // `copyTable` notes that the table is unreadable.
  }
}

function repairTopics(to: DatabaseSync, notes: string[]): void {
  for (const row of to.prepare('select id, name, configs from topics').all()) {
    const [id, name] = [Number(row['id']), String(row['name'])]
    if (!isValid(() => checkTopicName(name))) {
      to.prepare('update topics set name = ? where id = ?').run(`recovered-topic-${id}`, id)
      notes.push(`the name of a topic is damaged: it is recovered-topic-${id} now`)
    }
    if (isValid(() => checkConfigs(name, parseConfigs(String(row['configs']))))) continue
    to.prepare('update topics set configs = ? where id = ?').run(KEEP_ALL, id)
    notes.push(`the configuration of topic '${name}' is damaged: it keeps all records now (retention.ms=-1)`)
  }
}

function parseConfigs(text: string): Readonly<Record<string, string>> {
  const configs: unknown = JSON.parse(text)
  if (
    typeof configs === 'object' &&
    configs !== null &&
    Object.values(configs).every((value) => typeof value === 'string')
  )
    return configs as Record<string, string>
  throw new Error('not a map of texts')
}

function isValid(check: () => void): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}

/** Removes rows that cannot be right: the batches of such a partition go to a topic of their own. */
function repairPartitions(to: DatabaseSync, notes: string[]): void {
  const wrong = to
    .prepare(
      `select id from partitions where id not between 1 and ${PARTITION_ID_MAX} or number not between 0 and 9999
         or start_offset not between 0 and ${OFFSET_MASK} or end_floor not between 0 and ${OFFSET_MASK}
         or exists (select 1 from partitions as other
                    where other.topic_id = partitions.topic_id and other.number = partitions.number and other.id < partitions.id)`,
    )
    .all()
  for (const row of wrong) {
    to.prepare('delete from partitions where id = ?').run(row['id'] as number)
    notes.push(`the row of partition id ${row['id']} is damaged`)
  }
}

function skipProducerIds(to: DatabaseSync): void {
  const stored = to.prepare("select value from settings where name = 'next_producer_id'").get()?.['value']
  const used = to.prepare('select max(producer_id) as last from transactional_ids').get()?.['last']
  const ids = [stored, used].map(Number).filter((id) => Number.isSafeInteger(id) && id >= 0)
  to.prepare("insert or replace into settings (name, value) values ('next_producer_id', ?)").run(
    Math.max(0, ...ids) + PRODUCER_IDS_SKIPPED,
  )
}
