import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient, type WorkerClient } from '../../../src/clients/worker-client.ts'
import { partDirectory } from '../../env/workspace.ts'
import { occupiedMbOf } from '../../support/process-tree.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import type { Settings } from '../settings.ts'
import type { Side } from './sides.ts'

const SOURCES = 25
const SINKS = 25
/** Wait before memory is measured, so that the last started tasks have settled, and idle processes have ended. */
const SETTLED_MS = 15_000
const WAIT = { everyMs: 100, timeoutMs: 60_000 }
const STRINGS = {
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
}

/** Measures the time from process start to the first record of a connector, and memory when idle and with 50 tasks. */
export async function measureStart({ bootstrap }: Settings, side: Side) {
  await using log = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
  const topic = `first-${side.name}-${performance.now()}`
  await log.topics.create({ name: topic, partitions: SINKS, replicationFactor: 1 })
  const file = join(partDirectory('first'), 'in.txt')
  writeFileSync(file, 'first\n')
  const startMs = performance.now()
  const worker = await side.start({})
  try {
    const client = createWorkerClient({ url: worker.url })
    await client.create('first', { 'connector.class': 'FileStreamSource', file, topic, ...STRINGS })
    await firstRecord(log, topic)
    const firstRecordMs = performance.now() - startMs
    await client.delete('first')
    await sleep(SETTLED_MS)
    const idleMb = occupiedMbOf(worker.pid!)
    await startTasks(client, file, topic)
    await sleep(SETTLED_MS)
    return { firstRecordMs, idleMb, busyMb: occupiedMbOf(worker.pid!) }
  } finally {
    await worker.stop()
  }
}

async function firstRecord(log: Broker, topic: string): Promise<void> {
  const reader = log.reader()
  reader.seek(await log.topics.offsets(topic, 'earliest'))
  while ((await reader.poll(1_000)).every(({ records }) => records.length === 0));
  await reader.close()
}

async function startTasks(client: WorkerClient, file: string, topic: string): Promise<void> {
  for (let at = 0; at < SOURCES; at++) {
    await client.putConfig(`in-${at}`, { 'connector.class': 'FileStreamSource', file, topic, ...STRINGS })
  }
  const sink = { 'connector.class': 'FileStreamSink', topics: topic, file: `${file}.out`, 'tasks.max': String(SINKS) }
  await client.putConfig(`out-${topic}`, { ...sink, ...STRINGS })
  await until('50 tasks to run', WAIT, async () => {
    const tasks = Object.values(await client.list()).flatMap(({ status }) => status?.tasks ?? [])
    return tasks.filter(({ state }) => state === 'RUNNING').length === SOURCES + SINKS
  })
}
