import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import type { BrokerAddress } from '../../src/broker/broker-address.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { itOn, real } from '../env/real.ts'
import {
  expectContinued,
  killWithTasks,
  NO_PROGRESS,
  type PipeProgress,
  readProgress,
  untilCommitted,
  untilCopied,
} from '../support/line-pipe.ts'
import { digestOf, LINE_BYTES, sizeOf, writeLines } from '../support/numbered-lines.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openDisposableBroker } from '../support/topic.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess, type WeirWorker } from '../support/worker-process.ts'

/** 2,000,000 lines are 200 MB and take most of a minute; WEIR_PIPE_LINES=2000000 asks for them. */
const LINES = Number(process.env['WEIR_PIPE_LINES'] ?? 500_000)
const SETTINGS = {
  'offset.flush.interval.ms': '250',
  // The minimum that Kafka permits. The group waits this long for a killed worker.
  'session.timeout.ms': '6000',
  'heartbeat.interval.ms': '2000',
}
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
    'lose no line when the worker is killed, and repeat only the lines behind the last stored offsets',
    async () => {
      const pipe = createPipe(homeOf())
      let worker = await pipe.start()
      await pipe.createConnectors(worker)
      const kills: PipeProgress[] = []
      for (const part of [0.2, 0.45, 0.7]) {
        const since = kills.at(-1) ?? NO_PROGRESS
        await until(`${part} of the lines`, WAIT, () => sizeOf(pipe.output) >= part * LINES * LINE_BYTES)
        // On a slow machine, the source may have committed its last line before.
        if (since.sourceOffset < LINES) await untilCommitted(createWorkerClient({ url: worker.url }), pipe, since)
        await killWithTasks(worker)
        kills.push(await readStoredProgress(pipe))
        worker = await pipe.start()
      }
      await untilCopied(pipe, kills.at(-1)!, LINES)
      await worker.stop()
      await using broker = await openDisposableBroker(pipe.home.address)
      await expectContinued(broker, pipe, kills, LINES)
    },
    600_000,
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
  const [source, sink] = [`${topic}-in`, `${topic}-out`]
  return {
    home,
    groupId: topic,
    source,
    sink,
    input,
    output,
    topic,
    async start(): Promise<WeirWorker> {
      const worker = await startWorkerProcess({ log: home.log, groupId: topic, settings: SETTINGS })
      onTestFinished(() => worker.kill())
      return worker
    },
    async createConnectors({ url }: WeirWorker) {
      const client = createWorkerClient({ url })
      // Unique names, because the consumer group of a sink on a shared Kafka has the name of its connector.
      await client.create(source, { 'connector.class': 'FileStreamSource', file: input, topic, ...strings })
      await client.create(sink, {
        'connector.class': 'FileStreamSink',
        file: output,
        topics: topic,
        ...strings,
      })
    },
  }
}

async function readStoredProgress(pipe: ReturnType<typeof createPipe>): Promise<PipeProgress> {
  await using broker = await openDisposableBroker(pipe.home.address)
  return await readProgress(broker, pipe)
}

function embeddedHome(): Home {
  const directory = join(temporaryDirectory(), 'data')
  return { log: ['--data', directory], address: { kind: 'embedded', directory } }
}

function kafkaHome(): Home {
  const { bootstrap } = kafka.address
  return { log: ['--bootstrap', bootstrap], address: { kind: 'kafka', config: { 'bootstrap.servers': bootstrap } } }
}
