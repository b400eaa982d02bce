import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { occupiedMbOf, residentMbOf } from '../../support/process-tree.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { startCpuClock } from '../process.ts'
import type { Settings } from '../settings.ts'
import { type BenchWorker, type Side, sidesOn } from '../worker/sides.ts'
import type { PluginCase, PluginDirectories } from './cases.ts'

/** What was measured of one connector on one worker. Memory and time are those of the worker and all its processes. */
export type Run = {
  readonly perSecond: number
  /** From the request that creates the connector to the last record. */
  readonly perSecondWithStart: number
  readonly cpuMsPer1000: number
  readonly residentMb: number
  readonly occupiedMb: number
  readonly residentMaxMb: number
}

const POLL_MS = 20
const TIMEOUT_MS = 600_000
/** Kafka's default is a minute, in which these runs would end without a commit. */
const WORKER_SETTINGS = { 'offset.flush.interval.ms': '1000', 'plugin.discovery': 'service_load' }

let runs = 0

/** Weir's worker and Java's with the same jars. */
export function sidesWith(settings: Settings, { pluginPath, hostDirectory }: PluginDirectories): readonly [Side, Side] {
  const both = { ...WORKER_SETTINGS, 'plugin.path': pluginPath }
  const [ours, java] = sidesOn(settings)
  const withSettings = (side: Side, own: Readonly<Record<string, string>>): Side => ({
    name: side.name,
    start: (others, groupId) => side.start({ ...own, ...others }, groupId),
  })
  return [withSettings(ours, { ...both, 'java.host.directory': hostDirectory }), withSettings(java, both)]
}

export async function runOn(side: Side, one: PluginCase, { bootstrap }: Settings): Promise<Run> {
  await using log = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
  const id = `${side.name}-${runs++}-${Math.round(performance.now())}`
  const topic = one.topic(id)
  await log.topics.create({ name: topic, partitions: 1, replicationFactor: 1 })
  const worker = await side.start({})
  try {
    const cpuMs = await startCpuClock(worker.pid)
    const startMs = performance.now()
    await createWorkerClient({ url: worker.url, timeoutMs: TIMEOUT_MS }).create(id, {
      ...one.config(id),
      'tasks.max': '1',
    })
    const { firstMs, lastMs, residentMaxMb } = await untilCopied(worker, log, topic, one.records)
    return {
      perSecond: (one.records / (lastMs - firstMs)) * 1_000,
      perSecondWithStart: (one.records / (lastMs - startMs)) * 1_000,
      cpuMsPer1000: (await cpuMs()) / (one.records / 1_000),
      residentMb: residentMbOf(worker.pid!),
      occupiedMb: occupiedMbOf(worker.pid!),
      residentMaxMb,
    }
  } finally {
    await worker.stop()
  }
}

/** Waits for the last record, and observes the memory meanwhile. */
async function untilCopied({ pid }: BenchWorker, log: Broker, topic: string, records: number) {
  const deadlineMs = performance.now() + TIMEOUT_MS
  let firstMs = 0
  let residentMaxMb = 0
  for (;;) {
    const [end] = await log.topics.offsets(topic, 'latest')
    const copied = end?.offset ?? 0
    const nowMs = performance.now()
    if (copied > 0 && firstMs === 0) firstMs = nowMs
    residentMaxMb = Math.max(residentMaxMb, residentMbOf(pid!))
    if (copied >= records) return { firstMs, lastMs: nowMs, residentMaxMb }
    if (nowMs > deadlineMs) throw new Error(`${topic} has ${copied} of ${records} records after ${TIMEOUT_MS} ms`)
    await sleep(POLL_MS)
  }
}
