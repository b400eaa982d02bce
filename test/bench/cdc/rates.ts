import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../../src/broker/broker.ts'
import { type ConnectorProperties, createWorkerClient, type WorkerClient } from '../../../src/clients/worker-client.ts'
import { occupiedMbOf } from '../../support/process-tree.ts'
import { until } from '../../support/until.ts'
import { countRecords } from '../postgres/connector-rates.ts'
import { startCpuClock } from '../process.ts'
import type { Side } from '../worker/sides.ts'
import type { SourceDatabase } from './source-database.ts'

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
  readonly database: SourceDatabase
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
  const untilRecords = async (topic: string, count: number) => {
    let firstMs = 0
    const deadlineMs = performance.now() + TIMEOUT_MS
    for (;;) {
      const copied = await countRecords(broker, topic)
      const nowMs = performance.now()
      if (copied > 0 && firstMs === 0) firstMs = nowMs
      if (nowMs - measuredMs > MEMORY_EVERY_MS) {
        occupiedMaxMb = Math.max(occupiedMaxMb, occupiedMbOf(worker.pid!))
        measuredMs = nowMs
      }
      if (copied >= count) return { firstMs, lastMs: nowMs }
      if (nowMs > deadlineMs) throw new Error(`${topic} has ${copied} of ${count} records after ${TIMEOUT_MS} ms`)
      await sleep(POLL_MS)
    }
  }
  try {
    const client = createWorkerClient({ url: worker.url, timeoutMs: TIMEOUT_MS })
    const snapshotCpuMs = await startCpuClock(worker.pid)
    const startMs = performance.now()
    const only = { 'snapshot.mode': 'initial_only', 'slot.drop.on.stop': 'true' }
    await client.create(`${id}_s`, { ...database.config(`${id}_s`, 'made', converters), ...only })
    const snapshot = await untilRecords(`${id}_s.public.made`, rows)
    const snapshotCpuMsPer1000 = (await snapshotCpuMs()) / (rows / 1_000)
    await client.delete(`${id}_s`)

    await database.client.query('TRUNCATE changed')
    await client.create(id, {
      ...database.config(id, 'changed', converters),
      'snapshot.mode': 'no_data',
      'tombstones.on.delete': 'false',
    })
    await untilActive(database, id)
    await stop(client, id)
    await database.change(changes)
    const streamCpuMs = await startCpuClock(worker.pid)
    await client.resume(id)
    const stream = await untilRecords(`${id}.public.changed`, changes)
    const streamCpuMsPer1000 = (await streamCpuMs()) / (changes / 1_000)
    return {
      snapshot: (rows / (snapshot.lastMs - snapshot.firstMs)) * 1_000,
      snapshotWithStart: (rows / (snapshot.lastMs - startMs)) * 1_000,
      stream: (changes / (stream.lastMs - stream.firstMs)) * 1_000,
      snapshotCpuMsPer1000,
      streamCpuMsPer1000,
      changeBytes: await meanBytes(broker, `${id}.public.changed`),
      occupiedMb: occupiedMbOf(worker.pid!),
      occupiedMaxMb,
    }
  } finally {
    await worker.stop()
  }
}

/** Waits until a connector reads its slot. */
export async function untilActive({ client }: SourceDatabase, slot: string): Promise<void> {
  const sql = 'SELECT active FROM pg_replication_slots WHERE slot_name = $1'
  await until(
    `the slot ${slot} to be read`,
    WAIT,
    async () => (await client.query(sql, [slot])).rows[0]?.active === true,
  )
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
