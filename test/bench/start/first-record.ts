import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient, type WorkerClient } from '../../../src/clients/worker-client.ts'
import { partDirectory } from '../../env/workspace.ts'
import { until } from '../../support/until.ts'
import type { BenchWorker, Side } from '../worker/sides.ts'

const SOURCES = 25
const SINKS = 25
const WAIT = { everyMs: 100, timeoutMs: 60_000 }
const STRINGS = {
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
}

/** A worker that has written its first record, and has no connector. */
export type StartedWorker = {
  readonly worker: BenchWorker
  /** From the start of the process to the first record of a connector. */
  readonly firstRecordMs: number
  /** Starts 25 sources and 25 tasks of one sink, and waits until they run. */
  startTasks(): Promise<void>
}

export async function startToFirstRecord(log: Broker, side: Side): Promise<StartedWorker> {
  const topic = `first-${side.name}-${Math.round(performance.now())}`
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
    return { worker, firstRecordMs, startTasks: () => startTasks(client, file, topic) }
  } catch (error) {
    await worker.stop()
    throw error
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
