import { existsSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { partDirectory } from '../../env/workspace.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import type { Settings } from '../settings.ts'
import { type Side, sidesOn } from './sides.ts'

const RECORDS = 500
const WARM_UP = 100
const EVERY_MS = 10
const WAIT = { everyMs: 20, timeoutMs: 60_000 }
const STRING = 'org.apache.kafka.connect.storage.StringConverter'
const STRINGS = { 'key.converter': STRING, 'value.converter': STRING }
const LINE = Buffer.from('x'.repeat(99))

/**
 * Measures the latency of single records from Kafka through a sink to a file. Both workers read the same records at the
 * same time, and latency starts at Kafka's acknowledgement, so that a stall of the broker or the machine affects both.
 */
export async function measureLatency(settings: Settings) {
  await using log = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': settings.bootstrap } })
  await using workers = new AsyncDisposableStack()
  const topic = `single-${performance.now()}`
  await log.topics.create({ name: topic, partitions: 1, replicationFactor: 1 })
  const open = async (side: Side): Promise<Output> => {
    const worker = workers.adopt(await side.start({}), ({ stop }) => stop())
    const file = join(partDirectory('single'), 'out.txt')
    const config = { 'connector.class': 'FileStreamSink', topics: topic, file, ...STRINGS }
    await createWorkerClient({ url: worker.url }).create(`${side.name}-${topic}`, config)
    return { file, atMs: [] }
  }
  const [ours, java] = sidesOn(settings)
  const outputs = [await open(java), await open(ours)] as const
  const storedMs = await sendSingly(log, topic, outputs)
  const [javaMs, oursMs] = outputs.map(({ atMs }) => p99(atMs.map((ms, at) => Math.max(0, ms - storedMs[at]!))))
  return { java: { p99Ms: javaMs! }, ours: { p99Ms: oursMs! } }
}

/** The file of a sink, and the times at which its records appeared. */
type Output = { readonly file: string; readonly atMs: number[] }

/** Sends single records at a constant rate. Returns the times of their acknowledgements. */
async function sendSingly(log: Broker, topic: string, outputs: readonly Output[]): Promise<readonly number[]> {
  const producer = await log.producer()
  const send = () => producer.send([{ topic, key: null, value: LINE }])
  await send()
  const sizeOf = ({ file }: Output) => (existsSync(file) ? statSync(file).size : 0)
  await until('the sinks to write', WAIT, () => outputs.every((output) => sizeOf(output) > 0))
  const watching = outputs.map((output) => {
    const look = () => {
      const there = Math.floor(sizeOf(output) / (LINE.length + 1)) - 1
      while (output.atMs.length < there) output.atMs.push(performance.now())
    }
    return watch(output.file, look)
  })
  const storedMs: number[] = []
  const startMs = performance.now()
  for (let at = 0; at < WARM_UP + RECORDS; at++) {
    await sleep(Math.max(0, startMs + at * EVERY_MS - performance.now()))
    void send().then(() => {
      storedMs[at] = performance.now()
    })
  }
  await until('all records to be there', WAIT, () => outputs.every(({ atMs }) => atMs.length === WARM_UP + RECORDS))
  for (const watcher of watching) watcher.close()
  await producer.close()
  return storedMs
}

function p99(times: readonly number[]): number {
  return times.slice(WARM_UP).toSorted((a, b) => a - b)[Math.floor((RECORDS - 1) * 0.99)]!
}
