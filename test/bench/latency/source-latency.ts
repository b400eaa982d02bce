import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { until } from '../../support/until.ts'
import type { BenchWorker } from '../worker/sides.ts'
import { clockMs, LatencySamples, type Percentiles, ROUND_MS, WARM_UP_MS } from './samples.ts'

const CLASSES = ['TickSource', 'dev.weir.bench.TickSource'] as const
const STRING = 'org.apache.kafka.connect.storage.StringConverter'
/** 1,000 records a second. */
const GROUP = { 'group.records': '10', 'group.interval.ms': '10' }

/** Measures the time from a source that emits a record to a consumer that receives it, on both workers at the same time. */
export async function measureSourceLatency(
  broker: Broker,
  workers: readonly [ours: BenchWorker, java: BenchWorker],
  rounds: number,
): Promise<readonly (readonly Percentiles[])[]> {
  const id = `ticks-${Math.round(performance.now())}`
  const topics = workers.map((_, at) => `${id}-${at}`)
  for (const name of topics) await broker.topics.create({ name, partitions: 1, replicationFactor: 1 })
  await Promise.all(
    workers.map(({ url }, at) => {
      const converters = { 'key.converter': STRING, 'value.converter': STRING }
      const config = { 'connector.class': CLASSES[at]!, topic: topics[at]!, ...GROUP, ...converters }
      return createWorkerClient({ url }).create(id, config)
    }),
  )
  const startMs = clockMs()
  const samples = topics.map(() => new LatencySamples(startMs, rounds))
  const reading = topics.map((topic, at) => readAll(broker, topic, samples[at]!))
  const timeoutMs = 2 * (WARM_UP_MS + rounds * ROUND_MS)
  await until('all ticks to arrive', { everyMs: 100, timeoutMs }, () => samples.every(({ isComplete }) => isComplete))
  await Promise.all(reading)
  for (const { url } of workers) await createWorkerClient({ url }).delete(id)
  return samples.map((one) => one.percentiles())
}

async function readAll(broker: Broker, topic: string, samples: LatencySamples): Promise<void> {
  const reader = broker.reader()
  reader.seek([{ topic, partition: 0, offset: 0 }])
  while (!samples.isComplete) {
    const polled = await reader.poll(500)
    const nowMs = clockMs()
    for (const { value } of polled.flatMap(({ records }) => records)) samples.add(Number(value) / 1e6, nowMs)
  }
  await reader.close()
}
