import { closeSync, openSync, readSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { partDirectory } from '../../env/workspace.ts'
import { until } from '../../support/until.ts'
import type { BenchWorker } from '../worker/sides.ts'
import { clockMs, LatencySamples, type Percentiles, ROUND_MS, WARM_UP_MS } from './samples.ts'

const STRING = 'org.apache.kafka.connect.storage.StringConverter'
/** 1,000 records a second. */
const GROUP_RECORDS = 10
const GROUP_MS = 10
const LINE_BYTES = 100
const WAIT = { everyMs: 50, timeoutMs: 60_000 }

/** Measures the time from a record that is sent to its line in the file of a sink. Both workers read the same records. */
export async function measureSinkLatency(
  broker: Broker,
  workers: readonly [ours: BenchWorker, java: BenchWorker],
  rounds: number,
): Promise<readonly (readonly Percentiles[])[]> {
  const topic = `lines-${Math.round(performance.now())}`
  await broker.topics.create({ name: topic, partitions: 1, replicationFactor: 1 })
  const files = workers.map((_, at) => join(partDirectory(`sink-${at}`), 'out.txt'))
  await Promise.all(
    workers.map(({ url }, at) => {
      writeFileSync(files[at]!, '')
      const converters = { 'key.converter': STRING, 'value.converter': STRING }
      const config = { 'connector.class': 'FileStreamSink', topics: topic, file: files[at]!, ...converters }
      return createWorkerClient({ url }).create(`${topic}-${at}`, config)
    }),
  )
  const startMs = clockMs()
  const outputs = files.map((file) => new OutputFile(file, new LatencySamples(startMs, rounds)))
  try {
    await sendSteadily(broker, topic, startMs + WARM_UP_MS + rounds * ROUND_MS + 10 * GROUP_MS)
    await until('all lines to be written', WAIT, () => outputs.every(({ samples }) => samples.isComplete))
  } finally {
    for (const output of outputs) output.close()
  }
  await Promise.all(workers.map(({ url }, at) => createWorkerClient({ url }).delete(`${topic}-${at}`)))
  return outputs.map(({ samples }) => samples.percentiles())
}

/** Sends groups of records at a constant rate. Each value is the time of its sending. */
async function sendSteadily(broker: Broker, topic: string, endMs: number): Promise<void> {
  const producer = await broker.producer()
  const sent: Promise<unknown>[] = []
  for (let nextMs = clockMs(); nextMs < endMs; nextMs += GROUP_MS) {
    await sleep(Math.max(0, nextMs - clockMs()))
    const value = Buffer.from(String(process.hrtime.bigint()).padEnd(LINE_BYTES - 1))
    sent.push(producer.send(Array.from({ length: GROUP_RECORDS }, () => ({ topic, key: null, value }))))
  }
  await Promise.all(sent)
  await producer.close()
}

/** The file of a sink, read as soon as it grows. */
class OutputFile {
  readonly samples: LatencySamples
  readonly #descriptor: number
  readonly #watcher: ReturnType<typeof watch>
  readonly #buffer = Buffer.alloc(1_000 * LINE_BYTES)
  #position = 0

  constructor(file: string, samples: LatencySamples) {
    this.samples = samples
    this.#descriptor = openSync(file, 'r')
    this.#watcher = watch(file, () => this.#readLines())
  }

  close(): void {
    this.#watcher.close()
    closeSync(this.#descriptor)
  }

  #readLines(): void {
    const bytes = readSync(this.#descriptor, this.#buffer, 0, this.#buffer.length, this.#position)
    const nowMs = clockMs()
    const lines = Math.floor(bytes / LINE_BYTES)
    for (let at = 0; at < lines; at++) {
      const line = this.#buffer.toString('latin1', at * LINE_BYTES, (at + 1) * LINE_BYTES)
      this.samples.add(Number.parseInt(line, 10) / 1e6, nowMs)
    }
    this.#position += lines * LINE_BYTES
  }
}
