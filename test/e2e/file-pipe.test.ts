import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import type { BrokerAddress } from '../../src/broker/broker-address.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { itOn, real } from '../env/real.ts'
import { LineCountSampler } from '../support/line-count-sampler.ts'
import { digestOf, LINE_BYTES, lastLine, readNumbers, sizeOf, writeLines } from '../support/numbered-lines.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openDisposableBroker, readRecords } from '../support/topic.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess, type WeirWorker } from '../support/worker-process.ts'

/** 2,000,000 lines are 200 MB and take most of a minute; WEIR_PIPE_LINES=2000000 asks for them. */
const LINES = Number(process.env['WEIR_PIPE_LINES'] ?? 500_000)
const COMMIT_INTERVAL_MS = 250
/** What was done in this time before a kill may be done again: an interval, and as long for the commit under way. */
const DANGER_MS = 2 * COMMIT_INTERVAL_MS
/** A worker's place in its group waits for the end of the session; Kafka takes none shorter than this. */
const SOON_MISSED = { 'session.timeout.ms': '6000', 'heartbeat.interval.ms': '2000' }
const WAIT = { everyMs: 5, timeoutMs: 120_000 }

const kafka = await real('kafka')

/** The log a test runs on, as the command line and as the port names it. */
type Home = { readonly log: readonly string[]; readonly address: BrokerAddress }
const homes = [
  { name: 'the embedded broker', needs: [], homeOf: embeddedHome },
  { name: 'Kafka', needs: [kafka], homeOf: kafkaHome },
]

describe.each(homes)('FileStreamSource and FileStreamSink on $name', ({ needs, homeOf }) => {
  itOn(needs, 'copy a file byte by byte', async () => {
    const pipe = createPipe(homeOf())
    const worker = await pipe.start()
    await pipe.createConnectors(worker)
    await until('all lines', WAIT, () => sizeOf(pipe.output) >= LINES * LINE_BYTES)
    expect(await digestOf(pipe.output)).toBe(await digestOf(pipe.input))
  })

  itOn(
    needs,
    'lose no line when the worker is killed, and repeat at most the lines of one commit interval',
    async () => {
      const pipe = createPipe(homeOf())
      let worker = await pipe.start()
      await pipe.createConnectors(worker)
      const killedAtMs: number[] = []
      const growth = new LineCountSampler(pipe.output)
      onTestFinished(() => growth.stop())
      let sinkInDanger = 0
      for (const part of [0.2, 0.45, 0.7]) {
        await until(`${part} of the lines`, WAIT, () => sizeOf(pipe.output) >= part * LINES * LINE_BYTES)
        const killMs = Date.now()
        killedAtMs.push(killMs)
        await worker.kill()
        sinkInDanger += growth.linesSince(killMs - DANGER_MS)
        worker = await pipe.start()
      }
      await until('the last line', WAIT, () => lastLine(pipe.output) === LINES - 1)
      await worker.stop()

      const written = readNumbers(pipe.output)
      expect(new Set(written).size).toBe(LINES)
      await using broker = await openDisposableBroker(pipe.home.address)
      const stored = (await readRecords(broker, pipe.topic)).map(({ timestampMs }) => timestampMs)
      const inDanger = stored.filter((timestampMs) =>
        killedAtMs.some((killMs) => timestampMs <= killMs && timestampMs > killMs - DANGER_MS),
      )
      expect(stored.length - LINES, 'lines that the source repeated').toBeLessThanOrEqual(inDanger.length)
      expect(written.length - stored.length, 'lines that the sink repeated').toBeLessThanOrEqual(sinkInDanger)
    },
  )
})

let pipes = 0

/** One source and one sink at once, on a worker that can be started again and again. */
function createPipe(home: Home) {
  pipes += 1
  const directory = temporaryDirectory()
  const input = join(directory, 'in.txt')
  const output = join(directory, 'out.txt')
  const topic = `file-pipe-${process.pid}-${pipes}`
  writeLines(input, LINES)
  const strings = {
    'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
    'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
  }
  return {
    home,
    input,
    output,
    topic,
    async start(): Promise<WeirWorker> {
      const settings = { 'offset.flush.interval.ms': String(COMMIT_INTERVAL_MS), ...SOON_MISSED }
      const worker = await startWorkerProcess({ log: home.log, groupId: topic, settings })
      onTestFinished(() => worker.kill())
      return worker
    },
    async createConnectors({ url }: WeirWorker) {
      const client = createWorkerClient({ url })
      // Names of its own: on a Kafka that is shared, a sink's group goes by the connector's name.
      await client.create(`${topic}-in`, { 'connector.class': 'FileStreamSource', file: input, topic, ...strings })
      await client.create(`${topic}-out`, {
        'connector.class': 'FileStreamSink',
        file: output,
        topics: topic,
        ...strings,
      })
    },
  }
}

function embeddedHome(): Home {
  const directory = join(temporaryDirectory(), 'data')
  return { log: ['--data', directory], address: { kind: 'embedded', directory } }
}

function kafkaHome(): Home {
  const { bootstrap } = kafka.address
  return { log: ['--bootstrap', bootstrap], address: { kind: 'kafka', config: { 'bootstrap.servers': bootstrap } } }
}
