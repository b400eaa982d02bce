import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { describeOn, real } from '../../env/real.ts'
import { killJavaHost, startJavaWorker } from '../../support/java-plugins.ts'
import { openDisposableBroker, readRecords } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { clientOf, WAIT } from '../../support/worker-group.ts'
import type { WeirWorker } from '../../support/worker-process.ts'

const kafka = await real('kafka')
const javaHost = await real('javaHost')
const plugins = await real('kafkaTestPlugins')

const TOOLS = 'org.apache.kafka.connect.tools'
const JSON_WITHOUT_SCHEMAS = {
  'key.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'key.converter.schemas.enable': 'false',
  'value.converter.schemas.enable': 'false',
}
const TASKS = 2

/** The sequence numbers in a topic, by task. */
async function numbersByTask(broker: Broker, topic: string): Promise<readonly (readonly number[])[]> {
  const records = await readRecords(broker, topic)
  const numbers: number[][] = Array.from({ length: TASKS }, () => [])
  for (const { key, value } of records) numbers[Number(key)]!.push(Number(value))
  return numbers
}

/** The numbers that the tasks of the sink printed as flushed, `TASK/NUMBER`. The worker's log has what a JVM prints. */
function flushedNumbers({ logFile }: WeirWorker): ReadonlySet<string> {
  const lines = readFileSync(logFile, 'utf8').split('\n')
  const printed = lines.filter((line) => line.includes('flushed')).map((line) => JSON.parse(JSON.parse(line).msg))
  const flushed = printed.filter((one) => one.sinkTask !== undefined && one.flushed === true)
  return new Set(flushed.map(({ task, seqno }) => `${task}/${seqno}`))
}

async function startTestPlugins() {
  const { bootstrap } = kafka.address
  const { group, worker } = await startJavaWorker({
    bootstrap,
    hostDirectory: javaHost.address.directory,
    plugins: plugins.address,
    settings: { 'worker.task.log.lines.per.second': '100000', 'worker.task.log.bytes.per.second': '100000000' },
  })
  const broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
  const topic = `${group.id}-records`
  await broker.topics.create({ name: topic, partitions: 1 })
  return { worker, broker, topic, client: clientOf(worker) }
}

describeOn([kafka, javaHost, plugins], "Kafka's own test plugins", () => {
  it('deliver every number when their JVM is killed', async () => {
    const { worker, client, topic, ...opened } = await startTestPlugins()
    await using broker = opened.broker
    await client.create('numbers', {
      ...JSON_WITHOUT_SCHEMAS,
      'connector.class': `${TOOLS}.VerifiableSourceConnector`,
      'tasks.max': String(TASKS),
      topic,
      throughput: '300',
    })
    await client.create('verifier', {
      ...JSON_WITHOUT_SCHEMAS,
      'connector.class': `${TOOLS}.VerifiableSinkConnector`,
      topics: topic,
    })
    const least = async () => Math.min(...(await numbersByTask(broker, topic)).map((numbers) => numbers.at(-1) ?? 0))
    await until('the first numbers', WAIT, async () => (await least()) >= 300)
    killJavaHost(worker.pid!, 'connect-test-plugins')
    await until('more numbers', WAIT, async () => (await least()) >= 900)
    await client.stop('numbers')
    await until('stopped tasks', WAIT, async () => (await client.status('numbers')).tasks.length === 0)

    const produced = (await numbersByTask(broker, topic)).map((numbers) => [...new Set(numbers)])
    for (const numbers of produced) expect(numbers).toEqual(numbers.map((_, at) => at))
    const expected = produced.flatMap((numbers, task) => numbers.map((number) => `${task}/${number}`))
    await until('the sink', WAIT, () => {
      const flushed = flushedNumbers(worker)
      return expected.every((one) => flushed.has(one))
    })
  })

  it('write structs whose schemas change, and fail where they are told to', async () => {
    const { client, topic, ...opened } = await startTestPlugins()
    await using broker = opened.broker
    await client.create('structs', {
      'connector.class': `${TOOLS}.SchemaSourceConnector`,
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      topic,
      'num.messages': '10',
      'multiple.schema': 'true',
      'partition.count': '1',
      throughput: '1000',
    })
    const mock = (name: string, mode: string) =>
      client.create(name, { 'connector.class': `${TOOLS}.MockSourceConnector`, mock_mode: mode, delay_ms: '0' })
    await mock('failing-task', 'task-failure')
    await mock('failing-connector', 'connector-failure')
    const statusOf = (name: string) => client.status(name).catch(() => undefined)
    await until('the failures', WAIT, async () => {
      const [one, other] = await Promise.all(['failing-task', 'failing-connector'].map(statusOf))
      return one?.tasks[0]?.state === 'FAILED' && other?.connector.state === 'FAILED'
    })
    expect((await client.status('failing-task')).connector.state).toBe('RUNNING')
    expect((await client.status('failing-task')).tasks[0]?.trace).toMatch(
      /^java\.lang\.RuntimeException\n\tat org\.apache\.kafka\.connect\.tools\.MockSourceTask\.poll/,
    )
    expect((await client.status('failing-connector')).connector.trace).toMatch(/^java\.lang\.RuntimeException\n/)

    await until('the structs', WAIT, async () => (await readRecords(broker, topic)).length === 10)
    const values = (await readRecords(broker, topic)).map(({ value }) => JSON.parse(String(value)))
    expect(new Set(values.map(({ schema }) => schema.version))).toEqual(new Set([1, 2]))
    expect(values.map(({ payload }) => payload.seqno)).toEqual(Array.from({ length: 10 }, (_, at) => at))
    expect(values[0]).toMatchObject({
      schema: { type: 'struct', name: 'record' },
      payload: { boolean: true, int: 12, long: 12, float: 12.2, double: 12.2, id: 0, partitioning: 0 },
    })
  })
})
