import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../../src/broker/broker.ts'
import { type ConnectorProperties, createWorkerClient, type WorkerClient } from '../../../src/clients/worker-client.ts'
import { occupiedMbOf } from '../../support/process-tree.ts'
import { until } from '../../support/until.ts'
import { countRecords } from '../postgres/connector-rates.ts'
import { startCpuClock } from '../process.ts'
import type { Side } from '../worker/sides.ts'

/** A database with a table `made`, whose rows exist, and an empty table `changed`. */
export type MeasuredDatabase = {
  /** The configuration of a connector, with defaults apart from the table and the converters. */
  config(id: string, table: string, converters: ConnectorProperties): ConnectorProperties
  topicOf(id: string, table: string): string
  /** What a connector has in addition that reads the existing rows only. */
  readonly snapshotOnly: ConnectorProperties
  /** Empties the table `changed`. */
  clear(): Promise<void>
  /** Writes changes: a third of them inserts, a third updates, a third deletes. */
  change(changes: number): Promise<void>
  /** Waits until a connector continues with what is written from now on, also after a stop. */
  untilStreaming(id: string, client: WorkerClient, countRecords: () => Promise<number>): Promise<void>
}

const POLL_MS = 10
/** Reading the memory takes some ms of the measured process. */
const MEMORY_EVERY_MS = 500
const TIMEOUT_MS = 600_000
const WAIT = { everyMs: 20, timeoutMs: TIMEOUT_MS }

export type Rates = {
  /** Rows per second, from the first to the last record of a snapshot. */
  readonly snapshot: number
  /** From the request that creates the connector to the last record. */
  readonly snapshotWithStart: number
  /** Changes per second that were written before the connector read them. */
  readonly stream: number
  /** CPU time of the worker and its processes, which depends less on other programs of the machine than the rates. */
  readonly snapshotCpuMsPer1000: number
  readonly streamCpuMsPer1000: number
  /** Mean size of the key and the value of a change, in bytes. */
  readonly changeBytes: number
  /** Private memory, and the pages of files once. */
  readonly occupiedMb: number
  readonly occupiedMaxMb: number
}

export type RateOptions = {
  readonly side: Side
  readonly database: MeasuredDatabase
  readonly broker: Broker
  readonly converters: ConnectorProperties
  /** Number of rows of the snapshot, and of changes. */
  readonly rows: number
  readonly changes: number
}

let runs = 0

/** A snapshot of a table, and then the changes of another one, with a new worker. */
export async function measureRates({ side, database, broker, converters, rows, changes }: RateOptions): Promise<Rates> {
  const id = `${side.name}_${runs++}_${Math.round(performance.now())}`
  const worker = await side.start({})
  let occupiedMaxMb = 0
  let measuredMs = 0
  const untilRecords = async (topic: string, count: number, before = 0) => {
    let firstMs = 0
    const deadlineMs = performance.now() + TIMEOUT_MS
    for (;;) {
      const copied = await countRecords(broker, topic)
      const nowMs = performance.now()
      if (copied > before && firstMs === 0) firstMs = nowMs
      if (nowMs - measuredMs > MEMORY_EVERY_MS) {
        occupiedMaxMb = Math.max(occupiedMaxMb, occupiedMbOf(worker.pid!))
        measuredMs = nowMs
      }
      if (copied >= before + count) return { firstMs, lastMs: nowMs }
      if (nowMs > deadlineMs)
        throw new Error(`${topic} has ${copied} of ${before + count} records after ${TIMEOUT_MS} ms`)
      await sleep(POLL_MS)
    }
  }
  try {
    const client = createWorkerClient({ url: worker.url, timeoutMs: TIMEOUT_MS })
    const snapshotCpuMs = await startCpuClock(worker.pid)
    const startMs = performance.now()
    const only = { ...database.snapshotOnly, 'snapshot.mode': 'initial_only' }
    await client.create(`${id}_s`, { ...database.config(`${id}_s`, 'made', converters), ...only })
    const snapshot = await untilRecords(database.topicOf(`${id}_s`, 'made'), rows)
    const snapshotCpuMsPer1000 = (await snapshotCpuMs()) / (rows / 1_000)
    await client.delete(`${id}_s`)

    await database.clear()
    await client.create(id, {
      ...database.config(id, 'changed', converters),
      'snapshot.mode': 'no_data',
      'tombstones.on.delete': 'false',
    })
    const changed = database.topicOf(id, 'changed')
    await database.untilStreaming(id, client, () => countRecords(broker, changed))
    await stop(client, id)
    const before = await countRecords(broker, changed)
    await database.change(changes)
    const streamCpuMs = await startCpuClock(worker.pid)
    await client.resume(id)
    const stream = await untilRecords(changed, changes, before)
    const streamCpuMsPer1000 = (await streamCpuMs()) / (changes / 1_000)
    return {
      snapshot: (rows / (snapshot.lastMs - snapshot.firstMs)) * 1_000,
      snapshotWithStart: (rows / (snapshot.lastMs - startMs)) * 1_000,
      stream: (changes / (stream.lastMs - stream.firstMs)) * 1_000,
      snapshotCpuMsPer1000,
      streamCpuMsPer1000,
      changeBytes: await meanBytes(broker, changed),
      occupiedMb: occupiedMbOf(worker.pid!),
      occupiedMaxMb,
    }
  } finally {
    await worker.stop()
  }
}

async function stop(client: WorkerClient, name: string): Promise<void> {
  await client.stop(name)
  await until(`${name} to stop`, WAIT, async () => (await client.status(name)).tasks.length === 0)
}

/** Of the first records of a topic. */
async function meanBytes(broker: Broker, topic: string): Promise<number> {
  const reader = broker.reader()
  try {
    reader.seek([{ topic, partition: 0, offset: 0 }])
    for (;;) {
      const records = (await reader.poll(TIMEOUT_MS)).flatMap((polled) => polled.records)
      const bytes = records.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0)
      if (records.length > 0) return bytes / records.length
    }
  } finally {
    await reader.close()
  }
}
