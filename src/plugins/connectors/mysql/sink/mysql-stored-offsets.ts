import type { SinkPartition, SinkPosition, SinkRecord } from '../../../../sdk/index.ts'
import { parseTableName, type Quote, quotedTable } from '../../jdbc/identifier.ts'
import { partitionRanges, remainingRecords } from '../../jdbc/sink/partition-ranges.ts'
import type { MysqlSession } from '../session.ts'
import { textLiteral } from '../sql-literal.ts'

/** The table of `DatabaseOffsets` in MySQL and MariaDB. */
export class MysqlStoredOffsets {
  readonly #connector: string
  readonly #table: string

  constructor(connector: string, table: string, quote: Quote) {
    this.#connector = connector
    this.#table = quotedTable(parseTableName(table, '`'), quote)
  }

  /** Returns the stored offsets. Partitions that were never written to are omitted. */
  async open(session: MysqlSession, partitions: readonly SinkPartition[]): Promise<readonly SinkPosition[]> {
    const text = (length: number) => `VARCHAR(${length}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL`
    const sql = `CREATE TABLE IF NOT EXISTS ${this.#table} (connector ${text(255)}, topic ${text(249)}, \`partition\` INT NOT NULL,
      next_offset BIGINT NOT NULL, PRIMARY KEY (connector, topic, \`partition\`)) ENGINE = InnoDB`
    await session.execute('create the offsets table', sql)
    if (partitions.length === 0) return []
    await this.#store(
      session,
      'initialize the stored offsets',
      partitions.map((partition) => ({ ...partition, nextOffset: 0 })),
    )
    return (await this.#read(session, partitions, '')).filter(({ offset }) => offset > 0)
  }

  /** Returns the records that are not written yet. Locks the offsets until the transaction ends. */
  async remaining(session: MysqlSession, records: readonly SinkRecord[]): Promise<readonly SinkRecord[]> {
    // In the order of the key, so that two tasks do not wait for each other.
    const stored = await this.#read(session, partitionRanges(records), 'ORDER BY topic, `partition` FOR UPDATE')
    return remainingRecords(records, stored, this.#table)
  }

  /** Stores the offsets after these records. Must run in the same transaction as the writes. */
  async advance(session: MysqlSession, records: readonly SinkRecord[]): Promise<void> {
    await this.#store(session, 'store the offsets', partitionRanges(records))
  }

  async #store(
    session: MysqlSession,
    operation: string,
    ranges: readonly (SinkPartition & { readonly nextOffset: number })[],
  ): Promise<void> {
    const rows = ranges.map(
      ({ topic, partition, nextOffset }) =>
        `(${textLiteral(this.#connector)}, ${textLiteral(topic)}, ${partition}, ${nextOffset})`,
    )
    const sql = `INSERT INTO ${this.#table} (connector, topic, \`partition\`, next_offset) VALUES ${rows.join(', ')}
      ON DUPLICATE KEY UPDATE next_offset = GREATEST(next_offset, VALUES(next_offset))`
    await session.execute(operation, sql)
  }

  async #read(
    session: MysqlSession,
    partitions: readonly SinkPartition[],
    end: string,
  ): Promise<readonly SinkPosition[]> {
    const keys = partitions.map(({ topic, partition }) => `(${textLiteral(topic)}, ${partition})`)
    const sql = `SELECT topic, \`partition\`, next_offset FROM ${this.#table}
      WHERE connector = ${textLiteral(this.#connector)} AND (topic, \`partition\`) IN (${keys.join(', ')}) ${end}`
    const rows = await session.query('read the offsets', sql)
    return rows.map(([topic, partition, offset]) => ({
      topic: topic!,
      partition: Number(partition),
      offset: Number(offset),
    }))
  }
}
