import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../../src/broker/broker.ts'
import { type ConnectorProperties, createWorkerClient } from '../../../src/clients/worker-client.ts'
import { until } from '../../support/until.ts'
import { startCpuClock } from '../process.ts'
import { progress } from '../settings.ts'
import type { BenchWorker } from '../worker/sides.ts'

const POLL_MS = 10
const TIMEOUT_MS = 120_000
const WAIT = { everyMs: 20, timeoutMs: TIMEOUT_MS }

export type Rate = {
  /** Records per second from the first to the last one, without the start of the connector. */
  readonly perSecond: number
  /** CPU time of 1,000 records with the start of the connector, in ms: of the worker, and of PostgreSQL. */
  readonly cpuMs: number
  readonly serverCpuMs: number
}

export type ConnectorRun = {
  readonly worker: BenchWorker
  /** Process id of the PostgreSQL server. */
  readonly serverPid: number
  readonly name: string
  readonly config: ConnectorProperties
  readonly records: number
  /** Returns how many records were copied. */
  readonly countCopied: () => Promise<number>
}

/** Creates a connector, waits until it has copied the records, and deletes it. */
export async function measureRate({ worker, serverPid, ...run }: ConnectorRun): Promise<Rate> {
  progress(`postgres: ${run.name}`)
  const client = createWorkerClient({ url: worker.url, timeoutMs: TIMEOUT_MS })
  const clocks = [await startCpuClock(worker.pid), await startCpuClock(serverPid)]
  await client.create(run.name, run.config)
  const { firstMs, firstCount, lastMs } = await untilCopied(run, () => client.status(run.name))
  const [cpuMs, serverCpuMs] = await Promise.all(clocks.map((clock) => clock()))
  await client.delete(run.name)
  await until(`${run.name} to be deleted`, WAIT, async () => !(await client.names()).includes(run.name))
  return {
    perSecond: ((run.records - firstCount) / (lastMs - firstMs)) * 1_000,
    cpuMs: cpuMs! / (run.records / 1_000),
    serverCpuMs: serverCpuMs! / (run.records / 1_000),
  }
}

async function untilCopied(
  { name, records, countCopied }: Omit<ConnectorRun, 'worker' | 'serverPid'>,
  readStatus: () => Promise<unknown>,
) {
  const deadlineMs = performance.now() + TIMEOUT_MS
  let firstMs = 0
  let firstCount = 0
  for (;;) {
    const count = await countCopied()
    const nowMs = performance.now()
    if (count > 0 && firstMs === 0) {
      firstMs = nowMs
      firstCount = count
    }
    if (count >= records) return { firstMs, firstCount, lastMs: nowMs }
    if (nowMs > deadlineMs) {
      const status = JSON.stringify(await readStatus())
      throw new Error(`${name} has copied ${count} of ${records} records after ${TIMEOUT_MS} ms: ${status}`)
    }
    await sleep(POLL_MS)
  }
}

/**
 * Counts the records of a topic with one partition, with the markers of transactions. Records of an open transaction count, so
 * that the first count is not that after the first transaction, when V8 has compiled the code.
 */
export async function countRecords(broker: Broker, topic: string): Promise<number> {
  if ((await broker.topics.describe(topic)) === undefined) return 0
  return (await broker.topics.offsets(topic, 'latest', 'read_uncommitted'))[0]!.offset
}
