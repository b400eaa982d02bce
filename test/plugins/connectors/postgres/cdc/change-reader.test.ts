import { describe, expect, it } from 'vitest'
import type { DatabaseChange, Table } from '../../../../../src/plugins/connectors/postgres/cdc/changes/change.ts'
import { ChangeReader } from '../../../../../src/plugins/connectors/postgres/cdc/changes/change-reader.ts'
import type { Delivered } from '../../../../../src/plugins/connectors/postgres/cdc/changes/resume-filter.ts'
import type { StreamMessage } from '../../../../../src/plugins/connectors/postgres/cdc/replication/replication-session.ts'

const table: Table = { id: 1, schema: 'public', name: 't', replicaIdentity: 'default', columns: [], keyNames: [] }

/** A transaction whose changes have these LSNs. Its commit record has 40 bytes. */
function transaction(commitLsn: bigint, lsns: readonly bigint[]): readonly StreamMessage[] {
  const committedAtUs = 1n
  const inserts = lsns.map((lsn): StreamMessage => ({ kind: 'insert', tableId: 1, after: [String(lsn)], lsn }))
  const lsn = lsns[0] ?? commitLsn
  return [
    { kind: 'begin', commitLsn, committedAtUs, transactionId: Number(commitLsn), lsn },
    ...inserts,
    { kind: 'commit', commitLsn, endLsn: commitLsn + 40n, committedAtUs, lsn: commitLsn + 40n },
  ]
}

async function read(messages: readonly StreamMessage[], delivered?: Delivered) {
  const skipped: DatabaseChange[] = []
  const relations = { get: () => table, update: async () => undefined }
  const reader = new ChangeReader({ relations, delivered, onSkipped: (change) => void skipped.push(change) })
  const changes: DatabaseChange[] = []
  let idleLsn: bigint | undefined
  const source = (async function* () {
    // One message in each batch: nothing may depend on the batches.
    for (const message of messages) yield [message]
  })()
  for await (const batch of reader.read(source)) {
    changes.push(...batch.changes)
    idleLsn = batch.idleLsn
  }
  return { changes, skipped, idleLsn }
}

/** The kinds of changes, with the LSN of rows. */
function shown(changes: readonly DatabaseChange[]): readonly string[] {
  return changes.map((change) => (change.kind === 'row' ? String(change.lsn) : change.kind))
}

describe('changes', () => {
  it('have positions in the order of the stream, although LSNs repeat and go back', async () => {
    const { changes } = await read([...transaction(400n, [200n, 200n, 250n]), ...transaction(500n, [100n, 300n])])
    expect(shown(changes)).toEqual(['begin', '200', '200', '250', 'commit', 'begin', '100', '300', 'commit'])
    expect(changes.flatMap((change) => (change.kind === 'row' ? [change.position] : []))).toEqual([
      { commitLsn: 400n, index: 0 },
      { commitLsn: 400n, index: 1 },
      { commitLsn: 400n, index: 2 },
      { commitLsn: 500n, index: 0 },
      { commitLsn: 500n, index: 1 },
    ])
  })

  it('of a message outside of transactions have its LSN', async () => {
    const message = { kind: 'message', isTransactional: false, prefix: 'p', content: Buffer.of(), lsn: 410n } as const
    const { changes, idleLsn } = await read([message])
    expect(changes).toMatchObject([
      { kind: 'message', transaction: undefined, position: { commitLsn: 410n, index: -1 } },
    ])
    expect(idleLsn).toBe(410n)
  })

  it('do not contain heartbeats, which only advance the position', async () => {
    const message = { kind: 'message', isTransactional: false, content: Buffer.of(), lsn: 410n } as const
    const heartbeat = { ...message, prefix: 'weir.heartbeat' }
    expect(await read([heartbeat])).toMatchObject({ changes: [], idleLsn: 410n })
    const [begin] = transaction(500n, [])
    expect((await read([begin!, { ...heartbeat, isTransactional: true }])).changes).toMatchObject([
      {},
      { kind: 'message' },
    ])
  })

  it('report how far the stream was read only while no transaction is open', async () => {
    const messages = transaction(400n, [200n])
    expect((await read(messages.slice(0, 2))).idleLsn).toBeUndefined()
    expect((await read([...messages.slice(0, 2), { kind: 'keepalive', lsn: 300n }])).idleLsn).toBeUndefined()
    expect((await read(messages)).idleLsn).toBe(440n)
    expect((await read([...messages, { kind: 'keepalive', lsn: 900n }])).idleLsn).toBe(900n)
  })

  it('outside of a transaction are rejected', async () => {
    await expect(read([{ kind: 'insert', tableId: 1, after: [], lsn: 1n }])).rejects.toThrow('outside of a transaction')
  })

  it('in a transaction that has begun twice are rejected', async () => {
    const [begin] = transaction(400n, [])
    await expect(read([begin!, begin!])).rejects.toThrow('the server began the transaction 400 within 400')
  })
})

describe('changes after a restart', () => {
  const stream = [...transaction(400n, [200n, 200n, 250n]), ...transaction(500n, [100n, 300n])]

  it('continue behind the stored change, although the transaction is sent again from its beginning', async () => {
    const delivered = { position: { commitLsn: 400n, index: 0 }, lsn: 200n }
    const { changes, skipped } = await read(stream, delivered)
    expect(shown(changes)).toEqual(['200', '250', 'commit', 'begin', '100', '300', 'commit'])
    expect(shown(skipped)).toEqual(['begin', '200'])
  })

  it('continue with the commit when all changes of its transaction are stored', async () => {
    const { changes } = await read(stream, { position: { commitLsn: 400n, index: 2 } })
    expect(shown(changes)).toEqual(['commit', 'begin', '100', '300', 'commit'])
  })

  it('continue behind a stored transaction', async () => {
    const { changes } = await read(stream, { position: { commitLsn: 440n, index: -1 } })
    expect(shown(changes)).toEqual(['begin', '100', '300', 'commit'])
  })

  it('continue behind a stored message', async () => {
    const message = { kind: 'message', isTransactional: false, prefix: 'p', content: Buffer.of(), lsn: 450n } as const
    const later = { ...message, lsn: 460n }
    const messages = [...stream.slice(0, 5), message, later, ...stream.slice(5)]
    const { changes } = await read(messages, { position: { commitLsn: 450n, index: -1 } })
    expect(shown(changes)).toEqual(['message', 'begin', '100', '300', 'commit'])
    // The LSN of a message is the end of its record, where the commit of a transaction may begin.
    const adjacent = [{ ...message, lsn: 500n }, ...stream.slice(5)]
    const behind = await read(adjacent, { position: { commitLsn: 500n, index: -1 } })
    expect(shown(behind.changes)).toEqual(['begin', '100', '300', 'commit'])
  })

  it('are refused when the stored change is at another place of its transaction', async () => {
    const delivered = { position: { commitLsn: 400n, index: 1 }, lsn: 250n }
    await expect(read(stream, delivered)).rejects.toThrow(
      'the change 1 of the transaction at 0/190 is at 0/C8, but the stored offset has it at 0/FA',
    )
  })

  it('keep the truncates of a skipped transaction out of the next one', async () => {
    const [begin, ...rest] = transaction(400n, [200n])
    const truncate = { kind: 'truncate', tableIds: [1], lsn: 150n } as const
    const { changes } = await read([begin!, truncate, ...rest, ...transaction(500n, [450n])], {
      position: { commitLsn: 440n, index: -1 },
    })
    expect(shown(changes)).toEqual(['begin', '450', 'commit'])
  })
})

describe('changes after Debezium', () => {
  const stream = [...transaction(400n, [200n, 200n, 250n]), ...transaction(500n, [100n, 250n])]

  it('continue behind the LSN of its last change', async () => {
    const delivered = { position: { commitLsn: 0n, index: -1 }, debeziumLsn: 250n }
    expect(shown((await read(stream, delivered)).changes)).toEqual(['commit', 'begin', '100', '250', 'commit'])
  })

  it('repeat the changes at its LSN when there are several, because one may be missing', async () => {
    const delivered = { position: { commitLsn: 0n, index: -1 }, debeziumLsn: 200n }
    const { changes, skipped } = await read(stream, delivered)
    expect(shown(changes)).toEqual(['200', '200', '250', 'commit', 'begin', '100', '250', 'commit'])
    expect(shown(skipped)).toEqual(['begin'])
  })

  it('continue with the next change when one change has its LSN', async () => {
    const delivered = { position: { commitLsn: 440n, index: -1 }, debeziumLsn: 100n }
    const { changes, skipped } = await read(stream, delivered)
    expect(shown(changes)).toEqual(['250', 'commit'])
    expect(shown(skipped)).toEqual(['begin', '100'])
  })
})
