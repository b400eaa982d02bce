import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorkerClient, type WorkerClient } from '../../src/clients/worker-client.ts'
import { type JavaConnect, startJavaConnect } from '../env/java-connect.ts'
import { describeOn, itOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { type Acl, type KafkaWithAcls, loginOf, startKafkaWithAcls } from '../support/acls.ts'
import { DatagenVerifier } from '../support/datagen-verifier.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess, type WeirWorker } from '../support/worker-process.ts'

const [kafka, java] = [await real('kafka'), await real('javaConnect')]

const WAIT = { everyMs: 100, timeoutMs: 120_000 }
const USERS = ['first', 'second', 'theirs'] as const
const OUR_GROUP = 'ours'
const THEIR_GROUP = 'java'
const SETTINGS = {
  'session.timeout.ms': '6000',
  'heartbeat.interval.ms': '500',
  'scheduled.rebalance.max.delay.ms': '0',
  'offset.flush.interval.ms': '500',
  'exactly.once.source.support': 'enabled',
  'consumer.session.timeout.ms': '6000',
  'consumer.heartbeat.interval.ms': '500',
}
const TEXT = {
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
}

const onTopic = (operation: Acl['operation'], resourceName: string): Acl => ({
  operation,
  resourceType: 'topic',
  resourceName,
})
const onGroup = (resourceName: string): Acl => ({ operation: 'READ', resourceType: 'group', resourceName })
const onTransactionalId = (resourceName: string): Acl => ({
  operation: 'WRITE',
  resourceType: 'transactional id',
  resourceName,
})
const STORAGE = ['configs', 'offsets', 'status'] as const
/** What a worker of the group needs without its connectors. Kafka Connect's leader writes its config topic in transactions. */
const ofWorker = (group: string): readonly Acl[] => [
  onGroup(group),
  onTransactionalId(`connect-cluster-${group}`),
  ...STORAGE.flatMap((name) =>
    (['CREATE', 'READ', 'WRITE', 'DESCRIBE_CONFIGS'] as const).map((operation) =>
      onTopic(operation, `${group}-${name}`),
    ),
  ),
]

/** The clients of Kafka Connect's connectors do not have the login of their worker. */
function clientsOf(user: string): Readonly<Record<string, string>> {
  const login = Object.entries(loginOf(user))
  return Object.fromEntries(
    ['', 'producer.', 'consumer.', 'admin.'].flatMap((client) => login.map(([key, value]) => [client + key, value])),
  )
}

describeOn([kafka], 'a group of workers that lack a right, or lose it while they run', () => {
  let server: KafkaWithAcls
  let workers: readonly WeirWorker[]
  let theirs: JavaConnect | undefined
  const directory = partDirectory('rights')
  const file = join(directory, 'lines.txt')

  beforeAll(async () => {
    server = await startKafkaWithAcls(USERS)
    const { acls, restricted } = server
    writeFileSync(file, 'a\nb\n')
    await acls.grant('first', ofWorker(OUR_GROUP))
    await acls.grant('second', ofWorker(OUR_GROUP))
    await acls.grant('theirs', ofWorker(THEIR_GROUP))
    const start = (user: string) =>
      startWorkerProcess({
        log: ['--bootstrap', restricted],
        groupId: OUR_GROUP,
        settings: { ...SETTINGS, ...clientsOf(user) },
      })
    const startTheirs = () =>
      startJavaConnect({
        bootstrap: restricted,
        groupId: THEIR_GROUP,
        properties: { ...SETTINGS, ...clientsOf('theirs') },
      })
    const [ours, other] = await Promise.all([start('first'), java.missing ? undefined : startTheirs()])
    theirs = other
    workers = [ours, await start('second')]
  })
  afterAll(async () => {
    await Promise.all([...(workers ?? []), theirs].map((worker) => worker?.kill()))
    await server?.stop()
  })

  type Side = { readonly group: string; readonly users: readonly string[]; readonly client: WorkerClient }
  const clientOf = (url: string) => createWorkerClient({ url, timeoutMs: 20_000 })
  const weir = (): Side => ({ group: OUR_GROUP, users: ['first', 'second'], client: clientOf(workers[0]!.url) })
  const both = (): readonly Side[] => [weir(), { group: THEIR_GROUP, users: ['theirs'], client: clientOf(theirs!.url) }]
  const change = async (how: 'grant' | 'revoke', { users }: Side, acls: readonly Acl[]) => {
    for (const user of users) await server.acls[how](user, acls)
  }
  /** Resolves with the traces of the tasks when all of them are in this state. */
  const untilTasks = async ({ client }: Side, connector: string, state: string, count = 1) => {
    let traces: readonly (string | undefined)[] = []
    await until(`${count} tasks of ${connector} to be ${state}`, WAIT, async () => {
      const { tasks = [] } = (await client.status(connector).catch(() => undefined)) ?? {}
      traces = tasks.map(({ trace }) => trace)
      return tasks.length === count && tasks.every((task) => task.state === state)
    })
    return traces.join('\n')
  }
  const restart = ({ client }: Side, connector: string) =>
    client.restart(connector, { includeTasks: true, onlyFailed: true })

  itOn(
    [java],
    'a source that may not use its transactional id is FAILED until it is restarted, as in Kafka Connect',
    async () => {
      for (const side of both()) {
        const { group, client } = side
        const topic = `${group}-denied`
        await change('grant', side, [onTopic('CREATE', topic), onTopic('WRITE', topic)])
        await client.create('denied', { 'connector.class': 'FileStreamSource', file, topic, ...TEXT })
        const trace = await untilTasks(side, 'denied', 'FAILED')
        if (group === OUR_GROUP) expect(trace).toContain(`the client needs WRITE on transactional id ${group}-denied-0`)
        else expect(trace).toContain('TransactionalIdAuthorizationException')
        await change('grant', side, [onTransactionalId(`${group}-denied-0`)])
        await restart(side, 'denied')
        await untilTasks(side, 'denied', 'RUNNING')
      }
    },
  )

  it('the tasks of every worker are FAILED when the leader may not fence their predecessors', async () => {
    const side = weir()
    const ids = [0, 1, 2].map((task) => onTransactionalId(`${OUR_GROUP}-fenced-${task}`))
    await change('grant', side, [...ids, onTopic('CREATE', 'fenced'), onTopic('WRITE', 'fenced')])
    const config = { 'connector.class': 'Datagen', 'kafka.topic': 'fenced', quickstart: 'users', ...TEXT }
    await side.client.create('fenced', { ...config, 'tasks.max': '2' })
    await untilTasks(side, 'fenced', 'RUNNING', 2)
    await change('revoke', side, ids.slice(0, 1))
    await side.client.putConfig('fenced', { ...config, 'tasks.max': '3' })
    const traces = await untilTasks(side, 'fenced', 'FAILED', 3)
    expect(traces).toMatch(/the leader 127\.0\.0\.1:\d+: .*the client needs WRITE on transactional id ours-fenced-0/)
    await change('grant', side, ids.slice(0, 1))
    await restart(side, 'fenced')
    await untilTasks(side, 'fenced', 'RUNNING', 3)
  })

  itOn(
    [java],
    'a task whose right is revoked while it runs is FAILED until it is restarted, as in Kafka Connect',
    async () => {
      for (const side of both()) {
        const { group, client } = side
        const topic = `${group}-lines`
        const [writing, reading] = [onTopic('WRITE', topic), onTopic('READ', topic)]
        const [source, sink] = [`${group}-source`, `${group}-sink`]
        const membership = onGroup(`connect-${sink}`)
        const ids = onTransactionalId(`${group}-${source}-0`)
        await change('grant', side, [onTopic('CREATE', topic), writing, reading, membership, ids])
        const lines = join(directory, `${group}.txt`)
        writeFileSync(lines, 'a\n')
        await client.create(source, { 'connector.class': 'FileStreamSource', file: lines, topic, ...TEXT })
        await untilTasks(side, source, 'RUNNING')
        const out = join(directory, `${group}-out.txt`)
        await client.create(sink, { 'connector.class': 'FileStreamSink', file: out, topics: topic, ...TEXT })
        await until('the sink to write', WAIT, () => existsSync(out) && readFileSync(out, 'utf8') === 'a\n')

        await change('revoke', side, [membership])
        const denied = await untilTasks(side, sink, 'FAILED')
        if (group === OUR_GROUP) expect(denied).toContain(`the client needs READ on group connect-${sink}`)
        else expect(denied).toContain('GroupAuthorizationException')
        await change('grant', side, [membership])
        await restart(side, sink)
        await untilTasks(side, sink, 'RUNNING')
        await change('revoke', side, [reading])
        const unreadable = await untilTasks(side, sink, 'FAILED')
        if (group === OUR_GROUP) expect(unreadable).toContain(`the client needs READ on topic ${topic}`)
        else expect(unreadable).toContain('TopicAuthorizationException')

        await change('revoke', side, [writing])
        appendFileSync(lines, 'b\n')
        const unwritable = await untilTasks(side, source, 'FAILED')
        if (group === OUR_GROUP) expect(unwritable).toContain(`the client needs WRITE on topic ${topic}`)
        else expect(unwritable).toContain('TopicAuthorizationException')
        await change('grant', side, [reading, writing])
        for (const connector of [sink, source]) {
          await restart(side, connector)
          await untilTasks(side, connector, 'RUNNING')
        }
        // The first line is repeated if its offset was not committed before the right was revoked.
        await until('the sink to write', WAIT, () => readFileSync(out, 'utf8').endsWith('b\n'))
      }
    },
  )

  it('a worker that may not read one of its topics is not ready, keeps its tasks, and continues when it may', async () => {
    const side = weir()
    const isReady = async () => (await fetch(`${workers[0]!.url}/readyz`)).status
    await change('grant', side, [onTopic('CREATE', 'kept'), onTopic('WRITE', 'kept'), onTransactionalId('ours-kept-0')])
    const config = { 'connector.class': 'FileStreamSource', file, topic: 'kept', ...TEXT }
    await side.client.create('kept', config)
    await untilTasks(side, 'kept', 'RUNNING')
    await change('revoke', side, [onTopic('READ', 'ours-configs')])
    await until('the worker not to be ready', WAIT, async () => (await isReady()) === 503)
    await expect(side.client.putConfig('kept', { ...config, 'tasks.max': '2' })).rejects.toThrow(
      'the client needs READ on topic ours-configs',
    )
    await untilTasks(side, 'kept', 'RUNNING')
    await change('grant', side, [onTopic('READ', 'ours-configs')])
    await until('the worker to be ready', WAIT, async () => (await isReady()) === 200)
    await change('revoke', side, [onTopic('WRITE', 'ours-status')])
    await side.client.pause('kept')
    await change('grant', side, [onTopic('WRITE', 'ours-status')])
    await untilTasks(side, 'kept', 'PAUSED')
  })

  it('a worker that may not read its group any more ends its tasks when its session is over, and returns by itself', async () => {
    const side = weir()
    for (const name of await side.client.names()) await side.client.delete(name)
    const TASKS = 4
    const connector = 'moving'
    const verifier = new DatagenVerifier(server.bootstrap, { topic: connector, tasks: TASKS, iterations: 2_000 })
    const ids = Array.from({ length: TASKS }, (_, task) => onTransactionalId(`${OUR_GROUP}-${connector}-${task}`))
    await change('grant', side, [...ids, onTopic('CREATE', connector), onTopic('WRITE', connector)])
    const config = { 'connector.class': 'Datagen', ...verifier.config, rate: '100', 'tasks.max': String(TASKS) }
    await side.client.create(connector, config)
    const [first, second] = workers as [WeirWorker, WeirWorker]
    /** Each worker counts its own tasks, so a task that runs outside of the group is counted twice. */
    const untilPlaced = (where: string, isSo: (onFirst: number, onSecond: number) => boolean) =>
      until(`the tasks to run ${where}`, WAIT, async () => {
        const counts = await Promise.all([countTasks(first, connector), countTasks(second, connector)])
        return counts[0] + counts[1] === TASKS && isSo(...counts)
      })
    await untilPlaced('on both workers', (onFirst, onSecond) => onFirst > 0 && onSecond > 0)
    await server.acls.revoke('second', [onGroup(OUR_GROUP)])
    await untilPlaced('on the first worker', (onFirst) => onFirst === TASKS)
    await server.acls.grant('second', [onGroup(OUR_GROUP)])
    await untilPlaced('on both workers again', (onFirst, onSecond) => onFirst > 0 && onSecond > 0)
    // The leader of the group is the one that loses the right now.
    await server.acls.revoke('first', [onGroup(OUR_GROUP)])
    await untilPlaced('on the second worker', (_, onSecond) => onSecond === TASKS)
    await server.acls.grant('first', [onGroup(OUR_GROUP)])
    await untilPlaced('on both workers at the end', (onFirst, onSecond) => onFirst > 0 && onSecond > 0)
    expect(await verifier.untilComplete(WAIT.timeoutMs)).toBe(0)
    for (const { logFile } of [first, second]) {
      const lines = readFileSync(logFile, 'utf8').split('\n')
      expect(
        lines.filter((line) => line.includes('cannot join the group') && line.includes('needs READ on group ours')),
      ).toHaveLength(1)
    }
  })
})

/** The number of tasks of this connector that the worker itself runs. */
async function countTasks({ url }: WeirWorker, connector: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const line = new RegExp(
    `connector_task_metrics_status\\{connector="${connector}",task="\\d+",status="running"\\} 1$`,
    'gm',
  )
  return [...metrics.matchAll(line)].length
}
