import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import type { Role } from '../../../src/http/users.ts'
import {
  type Plugin,
  type RawConfig,
  type SinkConnector,
  type SourceConnector,
  UNRESTRICTED,
} from '../../../src/sdk/index.ts'
import { parseOverridePolicy } from '../../../src/worker/model/override-policy.ts'
import { TopicAccess } from '../../../src/worker/topic-access/topic-access.ts'
import {
  messagesOf,
  type ValidationContext,
  validateConnector,
} from '../../../src/worker/validation/validate-connector.ts'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { localPluginHost } from '../../support/plugin-host.ts'
import { SHIPPED } from '../../support/shipped-plugins.ts'
import { startTask, TASK_DEFAULTS } from '../../support/task.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { openTestBroker, produceTexts, readRecords } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { sharedTestWorker, startTestWorker } from '../../support/worker.ts'
import {
  ACTIVITIES,
  type Answer,
  failing,
  GROUPS,
  inGroup,
  listener,
  OWN_OFFSETS,
  POLICY,
  recordingSink,
  STORED,
  sender,
  TOPICS,
} from './connector-activities.ts'

// The table of what connectors do, with a test for each cell. `npx vitest run test/worker/topic-access/topic-table.test.ts -u` writes the
// page. What is expected is written here, apart from the code that decides.

const PAGE = join(import.meta.dirname, '../../../docs/connector-topics.md')
const WAIT = { everyMs: 5, timeoutMs: 25_000 }

const cells = ACTIVITIES.flatMap((activity) =>
  TOPICS.map((column) => {
    const answer = activity.allowed.includes(column.title) ? 'allowed' : activity.otherwise
    return { does: activity.does, title: column.title, answer, activity, column }
  }),
)

type Cell = (typeof cells)[number]

/** Validates the configuration, and runs the task if it is accepted. Resolves to the answer, or to other errors. */
async function answerOf({ activity, column, answer: expected }: Cell): Promise<Answer | readonly string[]> {
  const { plugin, config, reads = false, isExactlyOnce } = activity
  const { connector, topic } = column
  const read: string[] = []
  const known = { sender, failing, listener, sink: recordingSink(read) }
  const all = [...SHIPPED, ...Object.values(known)]
  const datagen = SHIPPED.find((one) => one.kind === 'source' && one.class.includes('Datagen'))
  const used = (plugin === 'datagen' ? datagen : known[plugin]) as SourceConnector | SinkConnector
  const own: RawConfig = { ...(used.kind === 'source' && topic === 'own-offsets' && OWN_OFFSETS), ...config(topic) }
  const messages = await problemsOf({ 'connector.class': used.class, name: connector, ...own }, all)
  if (messages.length > 0) return messages.every(isAboutAccess) ? 'rejected' : messages
  const broker = await openTestBroker('harmless', 'worker-offsets')
  const produce = async () => {
    const producer = await broker.producer()
    const stored = { key: Buffer.from('key'), value: Buffer.from(STORED) }
    await producer.send([topic, 'harmless'].map((name) => ({ topic: name, ...stored })))
    await producer.close()
  }
  await broker.topics.create({ name: topic, configs: { 'cleanup.policy': 'compact' } })
  await produce()
  const worker = { ...TASK_DEFAULTS, offsetsTopic: 'worker-offsets' }
  const { said } = startTask(
    broker,
    used,
    own,
    { connector, worker, ...(isExactlyOnce && { transactionalId: 'own' }) },
    POLICY,
  )
  const failure = () => said.find(({ type }) => type === 'failed')
  const isSinkOfTopic = reads && plugin === 'sink'
  const target = plugin === 'listener' ? 'harmless' : topic
  const isReached = async () => (isSinkOfTopic ? read.includes(topic) : (await valuesIn(broker, target)).length > 1)
  const isSkipped = () => expected === 'skipped' && read.filter((name) => name === 'harmless').length > 1
  await until('an answer', WAIT, async () => {
    // Another record, because those of the two topics may be returned by different polls.
    if (expected === 'skipped' && read.length === 1) await produce()
    return failure() !== undefined || (await isReached()) || isSkipped()
  })
  const isAllowed = await isReached()
  if (!isAllowed && !isSinkOfTopic) expect(new Set(await valuesIn(broker, topic))).toEqual(new Set([STORED]))
  if (isAllowed) return 'allowed'
  const failed = failure()
  if (failed === undefined) return 'skipped'
  return isAboutAccess(JSON.stringify(failed)) ? 'failed' : [JSON.stringify(failed)]
}

async function problemsOf(config: RawConfig, plugins: readonly Plugin[] = SHIPPED): Promise<readonly string[]> {
  const context: ValidationContext = {
    plugins: localPluginHost(plugins),
    groupId: 'workers',
    exactlyOnceSources: false,
    workerDefaults: { 'key.converter': 'StringConverter', 'value.converter': 'StringConverter' },
    overrides: parseOverridePolicy('All', [])!,
    access: UNRESTRICTED,
    topics: { accessWith: (connector) => new TopicAccess(connector, () => POLICY) },
    isDataTopic: () => false,
  }
  return messagesOf(await validateConnector(config, context, { connects: false }))
}

const isAboutAccess = (message: string) => message.includes(' may not ')
const valuesIn = async (broker: Broker, topic: string) =>
  (await readRecords(broker, topic)).map(({ value }) => String(value))

/** Users, and what they may do with a connector of theirs and with another one. */
const ROLES: Readonly<Record<string, Role>> = {
  none: 'none',
  readonly: 'readonly',
  writer: 'none',
  owner: 'none',
  developer: 'developer',
  admin: 'admin',
}
const PERMISSIONS = {
  users: {
    writer: [{ connectors: ['own-*'], operations: ['write'] }],
    owner: [{ connectors: ['own-*'], operations: ['*'] }],
  },
  connectors: { 'own-granted': [{ topics: ['granted-*'], operations: ['write'] }] },
}
const OBJECTS = [
  { object: 'own connector, any topic', name: 'own-1', topic: 'orders' },
  { object: 'own connector, topic of configurations', name: 'own-1', topic: 'connect-configs' },
  { object: 'own connector, topic of schemas', name: 'own-1', topic: '_schemas' },
  { object: 'own connector, granted topic', name: 'own-granted', topic: 'granted-1' },
  { object: 'own connector, topic that is not granted', name: 'own-granted', topic: 'orders' },
  { object: "another's connector, any topic", name: 'other-1', topic: 'orders' },
  { object: "another's connector, topic of schemas", name: 'other-1', topic: '_schemas' },
] as const
const ENDPOINTS = [
  'POST /connectors',
  'PUT /connectors/{name}/config',
  'PATCH /connectors/{name}/config',
  'PUT /connector-plugins/{plugin}/config/validate',
] as const

/** `denied`: no permission for the request; `rejected`: the configuration names a topic that the connector may not use. */
type RequestAnswer = 'accepted' | 'denied' | 'rejected'

const requests = ENDPOINTS.flatMap((endpoint) =>
  OBJECTS.flatMap((object) =>
    Object.keys(ROLES).map((user) => ({ endpoint, user, ...object, answer: expectedOf(endpoint, user, object) })),
  ),
)

function expectedOf(endpoint: string, user: string, { name, topic }: (typeof OBJECTS)[number]): RequestAnswer {
  const isValidation = endpoint.endsWith('validate')
  const isOwn = name.startsWith('own')
  const writes = { none: false, readonly: false, writer: isOwn, owner: isOwn, developer: true, admin: true }[user]
  // Validation needs `read` on any connector.
  const may = isValidation ? user !== 'none' && user !== 'writer' : writes
  if (may !== true) return 'denied'
  const isAllowed = name === 'own-granted' ? topic.startsWith('granted-') : topic === 'orders'
  return isAllowed ? 'accepted' : 'rejected'
}

const worker = sharedTestWorker(async (atEnd) =>
  startTestWorker(
    {
      ...(await basicAuthSettings(ROLES, PERMISSIONS, () => temporaryDirectory(undefined, atEnd))),
      'connector.paths.allowed': '/',
    },
    {},
    atEnd,
  ),
)

async function request({ endpoint, user, name, topic }: (typeof requests)[number]): Promise<RequestAnswer | string> {
  const { url } = worker()
  const config = { 'connector.class': 'FileStreamSource', file: '/nowhere', topic }
  const creation = { name, config, initial_state: 'STOPPED' }
  if (!endpoint.startsWith('POST'))
    await callAs('admin', url, 'POST /connectors', { ...creation, config: { ...config, topic: 'granted-1' } })
  const line = endpoint.replace('{name}', name).replace('{plugin}', 'FileStreamSource')
  const body = endpoint.startsWith('POST') ? creation : endpoint.startsWith('PATCH') ? { topic } : { ...config, name }
  const response = await callAs(user, url, line, body)
  await callAs('admin', url, `DELETE /connectors/${name}`)
  const text = JSON.stringify(response.body)
  if (response.status === 403) return 'denied'
  if (isAboutAccess(text)) return 'rejected'
  return response.status < 300 ? 'accepted' : `${response.status} ${text}`
}

describe('a connector and a topic', { tags: ['slow'] }, () => {
  it.each(cells)('$does, $title: $answer', async (cell) => {
    expect(await answerOf(cell)).toBe(cell.answer)
  })
})

describe('a sink and a consumer group', () => {
  it.each(GROUPS)('in the configuration, $title: $isAllowed', async ({ connector, group, isAllowed }) => {
    const config = { 'connector.class': 'FileStreamSink', file: '/nowhere', name: connector, ...inGroup(group) }
    const problems = await problemsOf(config)
    expect(problems).toHaveLength(isAllowed ? 0 : 1)
    expect(problems.every(isAboutAccess)).toBe(true)
  })

  it.each(GROUPS)('in a task, $title: $isAllowed', async ({ connector, group, isAllowed }) => {
    const broker = await openTestBroker('harmless')
    await produceTexts(broker, 'harmless', STORED)
    const read: string[] = []
    const { said } = startTask(broker, recordingSink(read), inGroup(group), { connector }, POLICY)
    await until('an answer', WAIT, () => read.length > 0 || said.some(({ type }) => type === 'failed'))
    expect(read.length > 0).toBe(isAllowed)
    expect(said.filter(({ type }) => type === 'failed').every((one) => isAboutAccess(JSON.stringify(one)))).toBe(true)
  })
})

describe('a request that writes a connector', { tags: ['slow'] }, () => {
  it.each(requests)('$endpoint by $user, $object: $answer', async (cell) => {
    expect(await request(cell)).toBe(cell.answer)
  })
})

it('are documented in docs/connector-topics.md', async () => {
  await expect(page()).toMatchFileSnapshot(PAGE)
})

function page(): string {
  const row = (values: readonly string[]) => `| ${values.join(' | ')} |`
  const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
    [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')
  const activities = ACTIVITIES.map(({ does }) => [
    does,
    ...cells.filter((cell) => cell.does === does).map(({ answer }) => answer),
  ])
  const groups = GROUPS.map(({ title, isAllowed }) => [
    title,
    isAllowed ? 'allowed' : 'rejected',
    isAllowed ? 'allowed' : 'failed',
  ])
  const users = Object.keys(ROLES)
  const endpoints = ENDPOINTS.flatMap((endpoint) =>
    OBJECTS.map(({ object }) => [
      `\`${endpoint}\``,
      object,
      ...users.map(
        (user) =>
          requests.find((one) => one.endpoint === endpoint && one.object === object && one.user === user)!.answer,
      ),
    ]),
  )
  return `# What connectors may do with topics and groups

Generated by \`test/worker/topic-access/topic-table.test.ts\`, which tests each cell. *allowed*: it is done. *rejected*: the configuration is
not accepted. *failed*: the task is FAILED, and no record was sent or read. *skipped*: the task runs, without the records of this topic.
[Topics and groups of connectors](secure.md#topics-and-groups-of-connectors) explains the rules.

## By what the connector does, and the topic

The columns *granted* and *not granted* are those of a connector with an entry in the permissions file.

${table(['the connector has', ...TOPICS.map(({ title }) => title)], activities)}

## By the consumer group of a sink

${table(['group', '`consumer.override.group.id` in a configuration', 'in a task, whose configuration was stored before'], groups)}

## By role, endpoint and object

What a connector may do does not depend on who writes it: it is the same for \`admin\`. \`writer\` and \`owner\` are users with the role \`none\` who
have \`write\` and all permissions on their own connectors. *denied*: the user lacks the permission for the request (403). Requests that do not
write a connector are in [the table of all endpoints](access-table.md).

${table(['endpoint', 'object', ...users.map((user) => `\`${user}\``)], endpoints)}
`
}
