import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { formatRight } from '../../src/broker/broker-error.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { type DeclaredAcl, PROGRAM_ACLS } from '../../src/cli/doctor/program-acls.ts'
import { createWorkerClient, type WorkerClient } from '../../src/clients/worker-client.ts'
import { createLogger } from '../../src/common/logging/logger.ts'
import { describeOn, real } from '../env/real.ts'
import { type Acl, type KafkaWithAcls, loginOf, startKafkaWithAcls } from '../support/acls.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startTestWorkerOn } from '../support/worker.ts'

const kafka = await real('kafka')
const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const [WORKER, CONNECTOR] = ['worker', 'connector']
const TEXT = {
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
}

function aclsOf(program: string): readonly DeclaredAcl[] {
  return PROGRAM_ACLS.find((one) => one.program === program)!.acls
}
const OF_WORKER = aclsOf('worker')
const OF_SOURCE = aclsOf('task of a source connector')
const OF_EXACTLY_ONCE = aclsOf('task of an exactly-once source connector')
const OF_SINK = aclsOf('task of a sink connector')
const isNeeded = ({ without }: DeclaredAcl) => without === undefined
const nameOf = (acl: DeclaredAcl) => [formatRight(acl), acl] as const

describeOn([kafka], 'a worker with the ACLs of docs/acls.md', () => {
  let server: KafkaWithAcls

  beforeAll(async () => {
    server = await startKafkaWithAcls([WORKER, CONNECTOR])
  })
  afterAll(() => server?.stop())

  async function withAcls(ofWorker: readonly Acl[], ofConnector: readonly Acl[] = []): Promise<void> {
    for (const [user, acls] of [
      [WORKER, ofWorker],
      [CONNECTOR, ofConnector],
    ] as const) {
      await server.acls.revokeAll(user)
      await server.acls.grant(user, acls)
    }
  }

  /** Starts a worker in this process, and what it logs. */
  async function start(settings: Readonly<Record<string, string>> = {}) {
    const lines: string[] = []
    const logger = createLogger({ level: 'info', write: (line) => void lines.push(line) })
    const config = { 'bootstrap.servers': server.restricted, ...loginOf(WORKER) }
    const broker = await openBroker({ kind: 'kafka', config }, { logger })
    onTestFinished(() => broker.close())
    const replicas = ['config', 'offset', 'status'].map((kind) => [`${kind}.storage.replication.factor`, '1'])
    const worker = await startTestWorkerOn(
      broker,
      {
        ...config,
        ...Object.fromEntries(replicas),
        'offset.storage.partitions': '1',
        'status.storage.partitions': '1',
        'offset.flush.interval.ms': '200',
        ...settings,
      },
      { logger },
    )
    return { client: createWorkerClient({ url: worker.url, timeoutMs: 20_000 }), lines, stop: () => worker.stop() }
  }

  /** A file that a source and a sink copy through the topic, with one line that becomes a dead letter. */
  async function copyFile(client: WorkerClient, overrides: Readonly<Record<string, string>> = {}) {
    const directory = temporaryDirectory()
    const [from, to] = [join(directory, 'in.txt'), join(directory, 'out.txt')]
    writeFileSync(from, '"a"\nbad\n')
    const source = { 'connector.class': 'FileStreamSource', file: from, topic: 'lines', ...TEXT, ...overrides }
    const sink = {
      'connector.class': 'FileStreamSink',
      file: to,
      topics: 'lines',
      'key.converter': TEXT['key.converter'],
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
      'errors.tolerance': 'all',
      'errors.deadletterqueue.topic.name': 'dead',
      'errors.deadletterqueue.topic.replication.factor': '1',
      ...overrides,
    }
    await client.putConfig('source', source)
    await client.putConfig('sink', sink)
    return () => existsSync(to) && readFileSync(to, 'utf8').includes('a')
  }

  const overrides = () => {
    const login = Object.entries(loginOf(CONNECTOR))
    return Object.fromEntries(
      ['producer', 'consumer', 'admin'].flatMap((client) =>
        login.map(([key, value]) => [`${client}.override.${key}`, value]),
      ),
    )
  }

  it('runs a source and a sink with a dead letter queue, and names no right that it lacks', async () => {
    await withAcls([...OF_WORKER, ...OF_SOURCE, ...OF_SINK])
    const { client, lines, stop } = await start()
    const isCopied = await copyFile(client)
    await until('the line', WAIT, isCopied)
    expect(lines.filter((line) => line.includes('the client needs'))).toEqual([])
    for (const name of await client.names()) await client.delete(name)
    await stop()
  })

  it('runs connectors whose clients log in as another user, who has their rights', async () => {
    await withAcls(OF_WORKER, [...OF_SOURCE, ...OF_SINK])
    const { client, lines, stop } = await start({ 'connector.client.config.override.policy': 'All' })
    const isCopied = await copyFile(client, overrides())
    await until('the line', WAIT, isCopied)
    expect(lines.filter((line) => line.includes('the client needs'))).toEqual([])
    for (const name of await client.names()) await client.delete(name)
    await stop()
  })

  it('fences and commits an exactly-once source, and changes the offsets of a sink, with the logins of these connectors', async () => {
    const offsets = { operation: 'WRITE', resourceType: 'topic', resourceName: 'connect-offsets' } as const
    await withAcls(OF_WORKER, [...OF_SOURCE, ...OF_EXACTLY_ONCE, ...OF_SINK, offsets])
    const { client, lines, stop } = await start({
      'connector.client.config.override.policy': 'All',
      'exactly.once.source.support': 'enabled',
    })
    const isCopied = await copyFile(client, overrides())
    await until('the line', WAIT, isCopied)
    await client.restartTask('source', 0)
    await until('the restarted source', WAIT, async () =>
      (await client.status('source')).tasks.some(({ state }) => state === 'RUNNING'),
    )
    await client.stop('sink')
    await until('the end of the sink', WAIT, async () => (await client.status('sink')).tasks.length === 0)
    const committed = await client.offsets('sink')
    expect(committed).toHaveLength(1)
    await client.alterOffsets('sink', [{ partition: committed[0]!.partition, offset: { kafka_offset: 0 } }])
    expect(await client.offsets('sink')).toEqual([{ ...committed[0]!, offset: { kafka_offset: 0 } }])
    expect(lines.filter((line) => line.includes('the client needs'))).toEqual([])
    for (const name of await client.names()) await client.delete(name)
    await stop()
  })

  it.each([...OF_WORKER, ...OF_SOURCE, ...OF_SINK].filter(isNeeded).map(nameOf))(
    'fails without %s, and names it',
    async (right, removed) => {
      await withAcls([...OF_WORKER, ...OF_SOURCE, ...OF_SINK].filter((acl) => acl !== removed))
      const started = await start().catch((error: unknown) => String(error))
      if (typeof started === 'string')
        return expect(started).toContain(` on ${removed.resourceType} ${removed.resourceName}`)
      const { client, lines, stop } = started
      const isCopying = await copyFile(client).catch((error: unknown) => String(error))
      if (typeof isCopying === 'string') expect(isCopying).toContain(`the client needs ${right}`)
      else await untilReported(right, client, lines)
      await stop()
    },
  )

  /**
   * Waits until the status of a task, or the log, names the right. A client needs to describe a topic before it writes it, which the
   * right to write includes.
   */
  async function untilReported(right: string, client: WorkerClient, lines: readonly string[]): Promise<void> {
    const accepted = [right, right.replace(/^WRITE on topic/, 'DESCRIBE on topic')]
    await until(`a report of ${right}`, WAIT, async () => {
      const status = async (name: string) => client.status(name).catch(() => undefined)
      const statuses = await Promise.all(['source', 'sink'].map(status))
      const traces = statuses.flatMap((one) => one?.tasks.map(({ trace = '' }) => trace) ?? [])
      return [...traces, ...lines].some((text) => accepted.some((one) => text.includes(`the client needs ${one}`)))
    })
  }
})
