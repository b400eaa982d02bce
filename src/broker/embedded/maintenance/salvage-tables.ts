import type { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../../../common/errors.ts'
import { OFFSET_MASK, PARTITION_ID_MAX } from '../database-format.ts'
import { findChangedTables } from '../row-checksums.ts'
import { checkTopicName } from '../topic-catalog.ts'
import { checkConfigs } from '../topic-config.ts'

/** All tables except `batches`: they are small, and copied row by row. */
const TABLES = ['topics', 'partitions', 'transactional_ids', 'groups', 'group_offsets', 'open_batches', 'settings']

/** Added to the next producer id, because the recovered value may be older than the last id that was assigned. */
const PRODUCER_IDS_SKIPPED = 100_000

/** Keeps all records: retention or compaction of a topic whose configuration is lost would delete what was recovered. */
export const KEEP_ALL = JSON.stringify({ 'retention.ms': '-1' })

/** Copies the small tables of a damaged database. Returns the ids of deleted partitions, which are not copied. */
export function copyTables(from: DatabaseSync, to: DatabaseSync, notes: string[]): ReadonlySet<number> {
  for (const table of TABLES) copyTable(from, to, table, notes)
  noteChangedTables(from, notes)
  repairTopics(to, notes)
  repairPartitions(to, notes)
  const deleted = deletedPartitions(from, notes)
  to.prepare(
    `insert into settings (name, value) values ('next_producer_id', ?1)
     on conflict (name) do update set value = max(value, 0) + ?1`,
  ).run(PRODUCER_IDS_SKIPPED)
  // New partitions get ids after all that were used.
  const last = Math.max(0, ...deleted, Number(to.prepare('select max(id) as last from partitions').get()!['last']))
  to.prepare(`insert into partitions (id, topic_id, number) values (?, 0, 0)`).run(last + 1)
  to.prepare('delete from partitions where id = ?').run(last + 1)
  return deleted
}

/** A topic finds its partitions by their numbers, so each number below the last one must exist. */
export function fillPartitionNumbers(to: DatabaseSync, notes: string[]): void {
  const topics = to
    .prepare(
      `select topics.id, name, max(number) as last, group_concat(number) as numbers
       from topics join partitions on topics.id = topic_id group by 1`,
    )
    .all()
  const insert = to.prepare('insert into partitions (topic_id, number) values (?, ?)')
  for (const topic of topics) {
    const numbers = new Set(String(topic['numbers']).split(',').map(Number))
    for (let number = 0; number < Number(topic['last']); number++) {
      if (numbers.has(number)) continue
      insert.run(Number(topic['id']), number)
      notes.push(
        `partition ${number} of topic '${topic['name']}' was lost and is empty now; its records, if they can be read, are in a topic recovered-ID`,
      )
    }
  }
}

/** Reads from both ends; rows between two unreadable pages are not recovered. */
function copyTable(from: DatabaseSync, to: DatabaseSync, table: string, notes: string[]): void {
  const columns = to
    .prepare(`select name from pragma_table_info('${table}')`)
    .all()
    .map((row) => String(row['name']))
  const insert = to.prepare(`insert or replace into ${table} values (${columns.map(() => '?').join(', ')})`)
  for (const order of ['', 'desc']) {
    try {
      const rows = from.prepare(`select ${columns.join(', ')} from ${table} order by ${columns[0]} ${order}`)
      for (const row of rows.iterate()) insert.run(...columns.map((column) => row[column] as never))
      return
    } catch (error) {
      if (order === '') notes.push(`table ${table} cannot be read completely: ${messageOf(error)}`)
    }
  }
}

function noteChangedTables(from: DatabaseSync, notes: string[]): void {
  try {
    for (const table of findChangedTables(from))
      if (TABLES.includes(table))
        notes.push(`table ${table} does not match its checksum: its rows may be wrong or missing`)
  } catch (error) {
    notes.push(`rows of all tables except the batches may be wrong or missing: ${messageOf(error)}`)
  }
}

function deletedPartitions(from: DatabaseSync, notes: string[]): ReadonlySet<number> {
  try {
    return new Set(
      from
        .prepare('select partition_id from doomed')
        .all()
        .map((row) => Number(row['partition_id'])),
    )
  } catch (error) {
    notes.push(`table doomed cannot be read, so records of deleted topics may be recovered: ${messageOf(error)}`)
    return new Set()
  }
}

function repairTopics(to: DatabaseSync, notes: string[]): void {
  for (const row of to.prepare('select id, name, configs from topics').all()) {
    const [id, name] = [Number(row['id']), String(row['name'])]
    if (!isValid(() => checkTopicName(name))) {
      to.prepare('update topics set name = ? where id = ?').run(`recovered-topic-${id}`, id)
      notes.push(`the name of a topic is damaged: it is recovered-topic-${id} now`)
    }
    if (isValid(() => checkConfigs(name, JSON.parse(String(row['configs']))))) continue
    to.prepare('update topics set configs = ? where id = ?').run(KEEP_ALL, id)
    notes.push(`the configuration of topic '${name}' is damaged: it keeps all records now (retention.ms=-1)`)
  }
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
  const removed = to
    .prepare(
      `delete from partitions where id not between 1 and ${PARTITION_ID_MAX} or number not between 0 and 9999
         or start_offset not between 0 and ${OFFSET_MASK} or end_floor not between 0 and ${OFFSET_MASK}
         or topic_id not in (select id from topics)
         or exists (select 1 from partitions as other
                    where other.topic_id = partitions.topic_id and other.number = partitions.number and other.id < partitions.id)
       returning id`,
    )
    .all()
  for (const row of removed) notes.push(`the row of partition id ${row['id']} is damaged`)
}
