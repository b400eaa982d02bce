import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { ProcessPluginHost } from '../../../src/worker/isolation/plugins/process-plugin-host.ts'
import { readAll } from '../../contract/broker-support.ts'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'
import { startTestWorker } from '../../support/worker.ts'
import { type Attempt, attempts, type Config, MARK, PLUGINS } from './topic-attempts.ts'

// Attempts of a user with rights to one connector to reach topics and groups of programs, and those of other teams. The page
// docs/connector-topics-attempts.md has the answers; `npx vitest run test/e2e/attacks/connector-topics.test.ts -u` writes it.

const PAGE = join(import.meta.dirname, '../../../docs/connector-topics-attempts.md')
const WAIT = { everyMs: 50, timeoutMs: 120_000 }

/** What only those may read to whom a topic belongs. */
const PLANTED = 'not-for-connectors'
/** What every sink may read. */
const HARMLESS = 'a harmless line'

const SETTINGS = {
  'group.id': 'estate',
  'config.storage.topic': 'estate-configs',
  'offset.storage.topic': 'estate-offsets',
  'status.storage.topic': 'estate-status',
  'connector.topics.denied':
    'connect-configs,connect-offsets,connect-status,_schemas,_dek_registry_keys,estate-schemas,estate-keys',
  'connector.groups.denied': 'connect-cluster,schema-registry,estate-registry',
  'offset.flush.interval.ms': '200',
  'connector.paths.allowed': '/',
  'connector.urls.denied': 'metadata',
  'key.converter': 'StringConverter',
  'value.converter': 'StringConverter',
}
const PERMISSIONS = {
  users: {
    mallory: ['attempt-*', 'team-*', 'nothing-*'].map((pattern) => ({ connectors: [pattern], operations: ['*'] })),
  },
  connectors: {
    'team-*': [
      { topics: ['team-*', 'shared'], operations: ['read', 'write'] },
      { topics: ['reference-*'], operations: ['read'] },
      { groups: ['team-*'], operations: ['read'] },
    ],
    'nothing-*': [],
  },
}
/** Topics with a record that is not for connectors. */
const FOREIGN = [
  ...['connect-configs', 'connect-offsets', 'connect-status', '_schemas', '_dek_registry_keys', 'estate-schemas'],
  ...['estate-keys', 'payments-dead', 'other-offsets', 'reference-rates'],
]
const UNCHANGED = FOREIGN.filter((topic) => topic !== 'other-offsets')
const OWN_OFFSETS = 'estate-offsets'
const OWN = ['estate-configs', OWN_OFFSETS, 'estate-status']

async function prepare(more: Config = {}) {
  const directory = temporaryDirectory()
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  mkdirSync(join(directory, 'plugins'))
  file('plugins/plugins.ts', PLUGINS)
  file('names', 'topic=estate-configs\n')
  const { url, broker } = await startTestWorker(
    {
      ...SETTINGS,
      'plugin.path': join(directory, 'plugins'),
      'config.providers': 'file',
      'config.providers.file.class': 'FileConfigProvider',
      ...(await basicAuthSettings({ admin: 'admin', mallory: 'none' }, PERMISSIONS)),
      ...more,
    },
    { openPlugins: ProcessPluginHost.open },
  )
  const call = (line: string, body?: unknown, user = 'mallory') => callAs(user, url, line, body)
  const create = (name: string, config: Config, user?: string) => call('POST /connectors', { name, config }, user)
  await plant(broker)
  const paid = { 'connector.class': 'FileStreamSink', topics: 'payments', file: join(directory, 'paid') }
  await create('payments', paid, 'admin')
  const other = { 'connector.class': 'FileStreamSource', topic: 'other-lines', file: file('other.txt', 'theirs\n') }
  await create('other', { ...other, 'offsets.storage.topic': 'other-offsets' }, 'admin')
  await until('the other connector to write', WAIT, async () =>
    JSON.stringify((await call('GET /connectors/other/topics', undefined, 'admin')).body).includes('other-lines'),
  )
  return { directory, url, broker, call, create }
}

async function plant(broker: Broker): Promise<void> {
  const producer = await broker.producer()
  for (const topic of FOREIGN) await broker.topics.create({ name: topic, configs: { 'cleanup.policy': 'compact' } })
  for (const topic of ['lines', 'team-in']) await broker.topics.create({ name: topic })
  const records = [...FOREIGN.map((topic) => [topic, PLANTED]), ['lines', HARMLESS], ['team-in', HARMLESS]]
  await producer.send(
    records.map(([topic = '', text = '']) => ({ topic, key: Buffer.from('["planted",{}]'), value: Buffer.from(text) })),
  )
  await producer.close()
}

type Prepared = Awaited<ReturnType<typeof prepare>>

/** What an attempt left in a topic: its records, and its offsets except in the topic where they belong. Default: any attempt. */
async function foundIn(broker: Broker, topic: string, at: number | '' = ''): Promise<readonly string[]> {
  if ((await broker.topics.describe(topic)) === undefined) return []
  const records = await readAll(broker, topic)
  const keys = records.map(({ key }) => String(key)).filter((key) => key.startsWith(`["attempt-${at}`))
  return [
    ...(topic === OWN_OFFSETS ? [] : keys),
    ...records.map(({ value }) => String(value)).filter((value) => value.startsWith(`${MARK}-${at}`)),
  ]
}

/** Runs an attempt. Resolves to its answer, and whether it reached what it wanted. */
async function run({ broker, call, create, directory }: Prepared, attempt: Attempt, at: number) {
  const name = attempt.name ?? `attempt-${at}`
  const out = join(directory, `out-${at}`)
  const read = () => (existsSync(out) ? readFileSync(out, 'utf8') : '')
  const mark = `${MARK}-${at}.`
  const { target, harmless, config } = attempt
  writeFileSync(join(directory, 'lines'), `${mark}\n`)
  writeFileSync(join(directory, 'routed'), `${mark}\n${mark} _schemas\n`)
  const isFileSink = config['connector.class'] === 'FileStreamSink'
  const { status, body } = await create(name, { ...config, mark, ...(isFileSink && { file: out }) })
  if (status === 400) return { answer: 'rejected', reason: reasonIn(String((body as { message: string }).message)) }
  expect({ attempt: attempt.attempt, status, body }).toMatchObject({ status: 201 })
  let failure: string | undefined
  let isReached = false
  await until(`an answer to: ${attempt.attempt}`, WAIT, async () => {
    const { tasks = [] } = (await call(`GET /connectors/${name}/status`)).body as Status
    failure = tasks.find(({ state }) => state === 'FAILED')?.trace
    isReached = target === undefined ? read().includes(PLANTED) : (await foundIn(broker, target, at)).length > 0
    const isHarmless =
      harmless === undefined ? read().includes(HARMLESS) : (await foundIn(broker, harmless, at)).length > 0
    return failure !== undefined || isReached || (attempt.answer === 'runs' && isHarmless)
  })
  await call(`DELETE /connectors/${name}`)
  if (isReached) return { answer: 'reached', reason: '' }
  return failure === undefined ? { answer: 'runs', reason: '' } : { answer: 'failed', reason: reasonIn(failure) }
}

type Status = { readonly tasks?: readonly { readonly state: string; readonly trace?: string }[] }

/** The sentence that says why, without the name of the connector, which is a number here. */
function reasonIn(message: string): string {
  const sentence =
    message.split('\n').find((line) => / may not |has records of| is not supported/.test(line)) ?? message
  return sentence.replace(/^.*?(?=the connector '|the topic ')/, '').replace(/the connector '[\w-]+'/, 'the connector')
}

const page = (rows: readonly string[]) => `# Attempts to reach other topics

Generated by \`test/e2e/attacks/connector-topics.test.ts\` from what a worker answered to a user with all rights to the connectors of the attempts only. In this worker, the topics of configurations,
offsets and statuses are \`estate-configs\`, \`estate-offsets\` and \`estate-status\`, its group is \`estate\`, and its registry has the topics
\`estate-schemas\` and \`estate-keys\` and the group \`estate-registry\`. A connector \`other\` has its offsets in \`other-offsets\`. Connectors
\`team-*\` may read and write \`team-*\` and \`shared\`, and read \`reference-*\`. *rejected*: the configuration is not accepted. *failed*: the
task is FAILED, and the record was not sent or read. *runs*: the task runs, and reached nothing of this. See
[Topics and groups of connectors](secure.md#topics-and-groups-of-connectors).

| # | the connector is or has | answer | reason |
| --- | --- | --- | --- |
${rows.join('\n')}
`

it('no connector reaches a topic or group of a program or of another team, by any of the known ways', async () => {
  const scene = await prepare()
  const ends = () => Promise.all(UNCHANGED.map((topic) => scene.broker.topics.offsets(topic, 'latest')))
  const before = await ends()
  const rows: string[] = []
  const wrong: object[] = []
  for (const [at, attempt] of attempts(scene.directory).entries()) {
    const { answer, reason } = await run(scene, attempt, at + 1)
    rows.push(`| ${at + 1} | ${attempt.attempt} | ${answer} | ${reason} |`)
    if (answer !== attempt.answer) wrong.push({ ...attempt, was: answer, reason })
  }
  if (process.env['WEIR_ATTEMPTS']) writeFileSync(process.env['WEIR_ATTEMPTS'], `${rows.join('\n')}\n`)
  expect(wrong).toEqual([])
  for (const topic of [...FOREIGN, ...OWN]) expect(await foundIn(scene.broker, topic)).toEqual([])
  expect(await ends()).toEqual(before)
  await expect(page(rows)).toMatchFileSnapshot(PAGE)
}, 600_000)
