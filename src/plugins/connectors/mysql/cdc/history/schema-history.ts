import type { SourceContext, TaskLog, TopicReader } from '../../../../../sdk/index.ts'
import { modesOf, parseStatement } from '../ddl/statement.ts'
import type { TableSchemas } from '../ddl/table-schemas.ts'
import type { MysqlServerState } from '../mysql-server-state.ts'
import { type BinlogPosition, isAtOrBefore, isReadAgain } from '../position.ts'
import { type HistoryRecord, parseHistoryRecord, printHistoryRecord } from './history-record.ts'

export type SchemaHistoryOptions = {
  readonly topic: string
  readonly bootstrapServers: string | undefined
  /** `topic.prefix`: another connector may use the same topic. */
  readonly server: string
  readonly openTopic: SourceContext<unknown>['openTopic']
  readonly report: SourceContext<unknown>['report']
  readonly log: TaskLog
}

type HistoryServer = Pick<MysqlServerState, 'isMariadb' | 'hasGtids'>

/** Time to wait for records of a topic that has no more of them. */
const POLL_MS = 1_000

/** The history of the structure of tables, in a topic in Debezium's format. */
export class SchemaHistory {
  readonly #options: SchemaHistoryOptions

  constructor(options: SchemaHistoryOptions) {
    this.#options = options
  }

  /**
   * Applies the history up to a position. Returns the number of records that the topic has of this server. Throws if a record cannot be
   * read: tables would be read with a wrong structure.
   */
  async recover(schemas: TableSchemas, position: BinlogPosition, state: HistoryServer): Promise<number> {
    const { topic, server, bootstrapServers, openTopic, log } = this.#options
    const end = await this.#endOffset()
    await using reader = disposable(await openTopic({ topic, offset: 0, bootstrapServers }))
    let count = 0
    let first: number | undefined
    while (reader.nextOffset < end) {
      for (const { offset, value } of await reader.poll(POLL_MS)) {
        first ??= offset
        if (value === null) continue
        const record = this.#parse(Buffer.from(value).toString(), offset)
        if (record === undefined || record.server !== server) continue
        count += 1
        if (isPast(record, position, state)) this.#apply(record, schemas, offset)
      }
    }
    if (first !== undefined && first > 0) {
      log.warn(
        { topic, first },
        'the first records of the schema history do not exist any more: set its retention.ms to -1',
      )
    }
    return count
  }

  /** Where the topic ends now. */
  async #endOffset(): Promise<number> {
    const { topic, bootstrapServers, openTopic } = this.#options
    await using reader = disposable(await openTopic({ topic, offset: undefined, bootstrapServers }))
    return reader.nextOffset
  }

  /** Resolves when the records are stored. */
  async store(records: readonly HistoryRecord[]): Promise<void> {
    if (records.length === 0) return
    const { topic, report } = this.#options
    // The history is needed for as long as the connector exists.
    const configs = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' }
    await report(
      { name: topic, partitions: 1, configs },
      records.map((record) => ({ key: null, value: Buffer.from(printHistoryRecord(record)), headers: [] })),
    )
  }

  #parse(text: string, offset: number): ReturnType<typeof parseHistoryRecord> {
    try {
      return parseHistoryRecord(text)
    } catch (error) {
      throw this.#problem(offset, error)
    }
  }

  #apply(record: NonNullable<ReturnType<typeof parseHistoryRecord>>, schemas: TableSchemas, offset: number): void {
    const { changes, ddl, database } = record
    for (const change of changes ?? []) schemas.applyChange(change)
    if (ddl === undefined || (changes?.length ?? 0) > 0) return
    try {
      // The changes of a statement about a database are in its text only.
      schemas.apply(parseStatement(ddl, database, modesOf(0n)), () => false)
    } catch (error) {
      if (changes === undefined) throw this.#problem(offset, error)
      this.#options.log.debug({ err: error, offset }, 'a statement of the schema history cannot be read')
    }
  }

  #problem(offset: number, cause: unknown): Error {
    const { topic } = this.#options
    const reason = (cause as Error).message
    return new Error(
      `the record at offset ${offset} of the schema history ${topic} cannot be read: ${reason}; restore the topic, or delete the ` +
        'offsets of the connector, so that it takes a new snapshot',
      { cause },
    )
  }
}

/** Whether the change of a record is in the structure with which the stream begins at a position. */
function isPast(
  { position, isOfSnapshot }: NonNullable<ReturnType<typeof parseHistoryRecord>>,
  start: BinlogPosition,
  { isMariadb, hasGtids }: HistoryServer,
): boolean {
  if (!isAtOrBefore(position, start, isMariadb)) return false
  return isOfSnapshot || !hasGtids || !isReadAgain(position, start, isMariadb)
}

function disposable(reader: TopicReader): TopicReader & AsyncDisposable {
  return {
    get nextOffset() {
      return reader.nextOffset
    },
    poll: (waitMs) => reader.poll(waitMs),
    close: () => reader.close(),
    [Symbol.asyncDispose]: () => reader.close(),
  }
}
