import { existsSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient } from '../../../src/clients/worker.ts'
import { partDirectory } from '../../env/workspace.ts'
import { openLog } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import type { Settings } from '../settings.ts'
import type { Side } from './sides.ts'

const RECORDS = 500
const WARM_UP = 100
const EVERY_MS = 10
const WAIT = { everyMs: 20, timeoutMs: 60_000 }
const STRING = 'org.apache.kafka.connect.storage.StringConverter'
const LINE = Buffer.from('x'.repeat(99))

/** How long single records take from their producer through the log and a sink into a file. */
export async function measureLatency({ bootstrap }: Settings, side: Side): Promise<{ readonly p99Ms: number }> {
  await using log = await openLog({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
  const topic = `single-${side.name}-${performance.now()}`
  await log.topics.create({ name: topic, partitions: 1, replicationFactor: 1 })
  const file = join(partDirectory('single'), 'out.txt')
  const worker = await side.start({})
  try {
    const config = { 'connector.class': 'FileStreamSink', topics: topic, file }
    await createWorkerClient({ url: worker.url }).create(`out-${topic}`, {
      ...config,
      'key.converter': STRING,
      'value.converter': STRING,
    })
    const times = await timesOf(log, topic, file)
    return { p99Ms: times.slice(WARM_UP).toSorted((a, b) => a - b)[Math.floor((RECORDS - 1) * 0.99)]! }
  } finally {
    await worker.stop()
  }
}

/** Of one record after the other, at a steady pace, ms. */
async function timesOf(log: Broker, topic: string, file: string): Promise<readonly number[]> {
  const producer = await log.producer()
  const send = () => producer.send([{ topic, key: null, value: LINE }])
  await send()
  await until('the sink to write', WAIT, () => existsSync(file) && statSync(file).size > 0)
  const before = statSync(file).size
  const sentMs: number[] = []
  const times: number[] = []
  const look = () => {
    const there = Math.floor((statSync(file).size - before) / (LINE.length + 1))
    const nowMs = performance.now()
    while (times.length < there) times.push(nowMs - sentMs[times.length]!)
  }
  const watching = watch(file, look)
  const startMs = performance.now()
  for (let at = 0; at < WARM_UP + RECORDS; at++) {
    await sleep(Math.max(0, startMs + at * EVERY_MS - performance.now()))
    sentMs.push(performance.now())
    void send()
  }
  await until('all records to be there', WAIT, () => times.length === WARM_UP + RECORDS)
  watching.close()
  await producer.close()
  return times
}
