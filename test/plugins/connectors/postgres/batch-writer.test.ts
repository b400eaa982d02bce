import { expect, it } from 'vitest'
import { quoted } from '../../../../src/plugins/connectors/jdbc/identifier.ts'
import { BatchWriter } from '../../../../src/plugins/connectors/jdbc/sink/batch-writer.ts'
import { UTC } from '../../../../src/plugins/connectors/jdbc/time-zone.ts'
import type { Session } from '../../../../src/plugins/connectors/postgres/session.ts'
import { toPostgresForm } from '../../../../src/plugins/connectors/postgres/sink/postgres-column.ts'
import { PostgresSinkSession } from '../../../../src/plugins/connectors/postgres/sink/postgres-sink-session.ts'
import { INT32, type SinkRecord, struct } from '../../../../src/sdk/index.ts'

/** A server that answers the statements of a transaction only when all of them have arrived, as behind a slow network. */
class SlowServer {
  readonly isOpen = true
  readonly operations: string[] = []
  readonly #waiting: (() => void)[] = []

  async query(operation: string, text: string): Promise<readonly (readonly string[])[]> {
    if (operation.startsWith('read the columns')) return [['id', 'integer']]
    await this.#receive(operation)
    if (text === 'COMMIT') for (const answer of this.#waiting) answer()
    return []
  }

  async execute(operation: string): Promise<number> {
    await this.#receive(operation)
    return 1
  }

  #receive(operation: string): Promise<void> | undefined {
    this.operations.push(operation)
    if (operation.startsWith('commit')) return undefined
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}

it('sends the offsets, the writes and the commit of a batch in one round trip', async () => {
  const server = new SlowServer()
  const options = { connector: 'test', offsetsTable: 'weir_offsets', quote: quoted }
  const writer = new BatchWriter({
    'pk.mode': 'record_value',
    'pk.fields': ['id'],
    'fields.whitelist': [],
    'string.output.value.column.name': 'record_value',
    'timestamp.fields.list': [],
    'timestamp.precision.mode': 'microseconds',
    'delete.enabled': false,
    zone: UTC,
    dateZone: UTC,
    nullIsDefault: false,
    toForm: toPostgresForm,
    insertMode: 'upsert',
    rowsMax: 2,
    tableOf: (topic) => topic,
    storesOffsets: true,
    autoCreate: false,
    autoEvolve: false,
    quote: quoted,
    quoteMark: '"',
    log: { debug() {}, info() {}, warn() {}, error() {} },
    openSession: async () => new PostgresSinkSession(server as unknown as Session, options),
    refuse: async (_record, error) => {
      throw error
    },
  })
  const valueSchema = struct('word', { id: INT32 })
  const records = [0, 1, 2].map((id) => ({ topic: 'words', partition: 0, offset: id, value: { id }, valueSchema }))
  await writer.write(records.map((one) => ({ ...one, origin: one })) as unknown as readonly SinkRecord[])
  expect(server.operations).toEqual([
    'begin a transaction',
    'store the offsets',
    'write 2 records to the table words',
    'write 1 records to the table words',
    'commit a transaction',
  ])
})
