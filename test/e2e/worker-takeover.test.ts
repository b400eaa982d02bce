import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createWorkerClient, type ExpandedConnector } from '../../src/clients/worker-client.ts'
import { type JavaConnect, startJavaConnect } from '../env/java-connect.ts'
import { describeOn, real } from '../env/real.ts'
import { createJavaClient } from '../support/java-requests.ts'
import {
  expectContinued,
  killWithTasks,
  NO_PROGRESS,
  type PipeProgress,
  readProgress,
  untilCommitted,
  untilCopied,
} from '../support/line-pipe.ts'
import { LINE_BYTES, LineWriter, sizeOf } from '../support/numbered-lines.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openDisposableBroker } from '../support/topic.ts'
import { until } from '../support/until.ts'
import { runWorkerProcess, startWorkerProcess, type WeirWorker } from '../support/worker-process.ts'

const kafka = await real('kafka')
// Used only to find out whether this machine can run a Java worker.
const java = await real('javaConnect')

/** Lines that a worker copies before it is killed, while its source still reads new ones. */
const LINES_BEFORE_KILL = 20_000
const WAIT = { everyMs: 20, timeoutMs: 120_000 }
const ELSEWHERE = 'com.example.OfAnotherImage'
const STRING = 'org.apache.kafka.connect.storage.StringConverter'

describeOn([kafka, java], 'takeover of the topics of a Kafka Connect cluster', () => {
  it('loses no record in either direction, and repeats only the records behind the last stored offsets', {
    timeout: 600_000,
  }, async () => {
    const { group, input, output, topic } = createPlace()
    const pipe = { groupId: group, source: 'in', sink: 'out', topic, output }
    const writer = new LineWriter(input)
    onTestFinished(() => writer.stop())
    const kills: PipeProgress[] = []
    const killWhileCopying = async (worker: JavaConnect | WeirWorker) => {
      const since = kills.at(-1) ?? NO_PROGRESS
      const enough = since.outputBytes + LINES_BEFORE_KILL * LINE_BYTES
      await until('lines to be copied', WAIT, () => sizeOf(output) > enough)
      await untilCommitted(createWorkerClient({ url: worker.url }), pipe, since)
      await killWithTasks(worker)
      await using broker = await openDisposableBroker(address())
      kills.push(await readProgress(broker, pipe))
    }

    const first = await startJava(group)
    const client = createJavaClient(first.url)
    await client.create('in', { 'connector.class': 'FileStreamSource', file: input, topic })
    await client.create('out', { 'connector.class': 'FileStreamSink', file: output, topics: topic })
    await client.create('resting', { 'connector.class': 'FileStreamSource', file: input, topic }, 'PAUSED')
    await writeConnector(group, 'elsewhere', ELSEWHERE)
    await untilStates(first.url)
    const before = configsOf(await client.list())
    await killWhileCopying(first)

    const ours = await startOurs(group)
    await untilStates(ours.url)
    const listed = await createWorkerClient({ url: ours.url }).list()
    expect(configsOf(listed)).toEqual(before)
    expect(listed['elsewhere']?.status?.connector.trace).toContain(`there is no connector '${ELSEWHERE}'`)
    await killWhileCopying(ours)

    const last = await startJava(group)
    await untilStates(last.url)
    expect(configsOf(await createWorkerClient({ url: last.url }).list())).toEqual(before)
    await writer.stop()
    await untilCopied(pipe, kills.at(-1)!, writer.count)
    await last.kill()

    await using broker = await openDisposableBroker(address())
    await expectContinued(broker, pipe, kills, writer.count)
  })

  it('is rejected while workers of the other kind live, and waits for the end of the sessions of killed ones', {
    timeout: 300_000,
  }, async () => {
    const { group } = createPlace()
    const theirs = await startJava(group)
    const log = ['--bootstrap', kafka.address.bootstrap]
    const refused = await runWorkerProcess({ log, groupId: group, settings: SETTINGS })
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain(`the group '${group}' has live workers of another kind`)
    await theirs.kill()
    const ours = await startOurs(group)
    await expect(joinAsJava(group)).rejects.toMatchObject({ code: 'inconsistent_group' })
    expect(await createWorkerClient({ url: ours.url }).list()).toEqual({})
  })
})

function createPlace() {
  const directory = temporaryDirectory()
  const group = `takeover-${randomUUID()}`
  return { group, topic: `${group}-lines`, input: join(directory, 'in.txt'), output: join(directory, 'out.txt') }
}

const SETTINGS = {
  'key.converter': STRING,
  'value.converter': STRING,
  'offset.flush.interval.ms': '1000',
  // The session timeouts of a killed worker and a killed sink.
  'session.timeout.ms': '5000',
  'heartbeat.interval.ms': '1000',
}

async function startJava(group: string): Promise<JavaConnect> {
  const properties = { ...SETTINGS, 'consumer.session.timeout.ms': '5000', 'consumer.heartbeat.interval.ms': '1000' }
  const worker = await startJavaConnect({ bootstrap: kafka.address.bootstrap, groupId: group, properties })
  onTestFinished(() => worker.kill())
  return worker
}

async function startOurs(group: string): Promise<WeirWorker> {
  const log = ['--bootstrap', kafka.address.bootstrap]
  const worker = await startWorkerProcess({ log, groupId: group, settings: SETTINGS })
  onTestFinished(() => worker.kill())
  return worker
}

/** Writes a connector as a worker with other plugins does. */
async function writeConnector(group: string, name: string, className: string): Promise<void> {
  await using broker = await openDisposableBroker(address())
  const producer = await broker.producer()
  const value = JSON.stringify({ properties: { 'connector.class': className, name } })
  await producer.send([{ topic: `${group}-configs`, key: Buffer.from(`connector-${name}`), value: Buffer.from(value) }])
}

/** A rejected Java worker takes long to exit. This sends the same request to join. */
async function joinAsJava(group: string): Promise<void> {
  await using broker = await openDisposableBroker(address())
  await broker.joinGroup({
    groupId: group,
    protocolType: 'connect',
    protocol: {
      protocols: () => ['sessioned', 'compatible', 'default'].map((name) => ({ name, metadata: Buffer.alloc(0) })),
      assign: () => new Map(),
      onJoined: () => undefined,
    },
  })
}

const STATES: Readonly<Record<string, string>> = {
  in: 'RUNNING',
  out: 'RUNNING',
  resting: 'PAUSED',
  elsewhere: 'FAILED',
}

async function untilStates(url: string): Promise<void> {
  const client = createWorkerClient({ url })
  await until('every connector to be as it should', WAIT, async () => {
    const listed = await client.list()
    return Object.keys(STATES).every((name) => {
      const { connector, tasks } = listed[name]?.status ?? { tasks: [] }
      const host = new URL(url).host
      return [connector, ...tasks].every((one) => one?.state === STATES[name] && one?.worker_id === host)
    })
  })
}

function configsOf(listed: Readonly<Record<string, ExpandedConnector>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(listed).map(([name, { info }]) => [name, info?.config]))
}

function address() {
  return { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } } as const
}
