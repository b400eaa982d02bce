import type { SinkPartition, SinkPosition, SinkRecord } from '../../../../sdk/index.ts'
import { DatabaseError } from '../../jdbc/database-error.ts'
import { parseTableName, type Quote, quotedTable } from '../../jdbc/identifier.ts'
import { partitionRanges, remainingRecords, WrittenBeforeError } from '../../jdbc/sink/partition-ranges.ts'
import { textFromItems } from '../array-text.ts'
import type { Session } from '../session.ts'
import { executeConcurrentDdl } from './concurrent-ddl.ts'

/** SQLSTATE of a text that is not a number. */
const NOT_A_NUMBER = '22P02'

/** The table of `DatabaseOffsets` in PostgreSQL. */
export class StoredOffsets {
  readonly #connector: string
  readonly #table: string
  #isThere = false

  constructor(connector: string, table: string, quote: Quote) {
    this.#connector = connector
    this.#table = quotedTable(parseTableName(table), quote)
  }

  /** Returns the stored offsets. Partitions that were never written to are omitted. */
  async open(session: Session, partitions: readonly SinkPartition[]): Promise<readonly SinkPosition[]> {
    await this.#create(session)
    const sql = `INSERT INTO ${this.#table} SELECT $1, r.topic, r.partition, 0
      FROM unnest($2::text[], $3::int[]) AS r (topic, partition) ON CONFLICT DO NOTHING`
    await session.query('initialize the stored offsets', sql, this.#partitionParameters(partitions))
    return (await this.#read(session, partitions, '')).filter(({ offset }) => offset > 0)
  }

  /**
   * Stores the offsets after these records, if none of them is written yet. Otherwise it fails with a `WrittenBeforeError`, so
   * that the server rejects the statements behind it in the same transaction, which may be sent before its result is known.
   * Offsets are locked in the order of their partitions, so that two tasks do not wait for each other.
   */
  async advanceIfNew(session: Session, records: readonly SinkRecord[]): Promise<void> {
    const sql = `WITH held AS (
        SELECT o.topic, o.partition, r.next_offset FROM ${this.#table} AS o
        JOIN unnest($2::text[], $3::int[], $4::bigint[], $5::bigint[]) AS r (topic, partition, first_offset, next_offset)
          ON o.topic = r.topic AND o.partition = r.partition
        WHERE o.connector = $1 AND o.next_offset <= r.first_offset ORDER BY o.topic, o.partition FOR UPDATE OF o
      ), stored AS (
        UPDATE ${this.#table} AS o SET next_offset = held.next_offset FROM held
        WHERE o.connector = $1 AND o.topic = held.topic AND o.partition = held.partition RETURNING 1
      )
      SELECT CASE WHEN count(*) < cardinality($3::int[])
        THEN ('not an error: records are compared with the stored offsets, ' || count(*) || ' match')::int END FROM stored`
    const ranges = partitionRanges(records)
    const offsets = [ranges.map(({ firstOffset }) => firstOffset), ranges.map(({ nextOffset }) => nextOffset)]
    try {
      await session.execute('store the offsets', sql, [
        ...this.#partitionParameters(ranges),
        ...offsets.map(textFromNumbers),
      ])
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.sqlState !== NOT_A_NUMBER) throw error
      throw new WrittenBeforeError('some of the records are written already', { cause: error })
    }
  }

  /**
   * Returns the records that are not written yet. Locks the offsets until the transaction ends. Throws if the offset of a partition
   * is missing: then it is unknown which records are written, and their offset could not be stored.
   */
  async remaining(session: Session, records: readonly SinkRecord[]): Promise<readonly SinkRecord[]> {
    const stored = await this.#read(session, partitionRanges(records), 'ORDER BY o.topic, o.partition FOR UPDATE OF o')
    return remainingRecords(records, stored, this.#table)
  }

  /** Stores the offsets after these records. Must run in the same transaction as the writes. */
  async advance(session: Session, records: readonly SinkRecord[]): Promise<void> {
    const sql = `UPDATE ${this.#table} AS o SET next_offset = r.next_offset
      FROM unnest($2::text[], $3::int[], $4::bigint[]) AS r (topic, partition, next_offset)
      WHERE o.connector = $1 AND o.topic = r.topic AND o.partition = r.partition AND o.next_offset < r.next_offset`
    const ranges = partitionRanges(records)
    const offsets = textFromNumbers(ranges.map(({ nextOffset }) => nextOffset))
    await session.execute('store the offsets', sql, [...this.#partitionParameters(ranges), offsets])
  }

  async #create(session: Session): Promise<void> {
    if (this.#isThere) return
    const [row] = await session.query('look up the offsets table', 'SELECT to_regclass($1)', [this.#table])
    if (row?.[0] === null) {
      const sql = `CREATE TABLE IF NOT EXISTS ${this.#table} (connector text, topic text, partition int,
        next_offset bigint NOT NULL, PRIMARY KEY (connector, topic, partition))`
      await executeConcurrentDdl(session, 'create the offsets table', sql)
    }
    this.#isThere = true
  }

  async #read(session: Session, partitions: readonly SinkPartition[], end: string): Promise<readonly SinkPosition[]> {
    const sql = `SELECT o.topic, o.partition, o.next_offset FROM ${this.#table} AS o
      JOIN unnest($2::text[], $3::int[]) AS r (topic, partition) ON o.topic = r.topic AND o.partition = r.partition
      WHERE o.connector = $1 ${end}`
    const rows = await session.query('read the offsets', sql, this.#partitionParameters(partitions))
    return rows.map(([topic, partition, offset]) => ({
      topic: topic!,
      partition: Number(partition),
      offset: Number(offset),
    }))
  }

  #partitionParameters(partitions: readonly SinkPartition[]): readonly string[] {
    const topics = textFromItems(partitions.map(({ topic }) => topic))
    return [this.#connector, topics, textFromNumbers(partitions.map(({ partition }) => partition))]
  }
}

function textFromNumbers(numbers: readonly number[]): string {
  return textFromItems(numbers.map(String))
}
