import { describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { type AccessRight, BrokerError, formatRight, type RightState } from '../../../src/broker/broker-error.ts'
import { checkProgramRights } from '../../../src/cli/doctor/check-program-rights.ts'
import { checkedRegistry, checkedWorker } from '../../../src/cli/doctor/checked-program.ts'
import { registrySettings } from '../../../src/registry/settings.ts'
import { workerSettings } from '../../../src/worker/settings.ts'

const settingsOf = (settings: Readonly<Record<string, string>>) =>
  Object.entries(settings).map(([key, value]) => ({ key, value, source: 'the test' }))
const worker = (settings = {}) => checkedWorker(workerSettings(settingsOf(settings)))
const registry = (settings = {}) => checkedRegistry(registrySettings(settingsOf(settings)))

const CONFIG = {
  'bootstrap.servers': 'kafka-1:9092,kafka-2:9092',
  'security.protocol': 'SASL_SSL',
  'sasl.jaas.config':
    'org.apache.kafka.common.security.scram.ScramLoginModule required username="the worker" password="p";',
}

type Topics = Readonly<Record<string, 'exists' | 'hidden'>>

/** A broker where these rights have a state; all others are granted. Topics that are not named do not exist. */
function brokerWith(states: Readonly<Record<string, RightState>>, topics: Topics = {}) {
  return {
    checkRights: async (rights: readonly AccessRight[]) =>
      rights.map((right) => states[`${right.operation} ${right.resourceName}`] ?? 'granted'),
    topics: {
      describe: async (name: string) => {
        if (topics[name] === 'hidden') throw new BrokerError('not_authorized', 'hidden')
        return topics[name] === undefined ? undefined : { name, internal: false, partitions: [] }
      },
    },
  } as unknown as Broker
}

describe('the rights of a program', () => {
  it('are ok when nothing is missing, and those to create a topic when it exists', async () => {
    const { findings } = await checkProgramRights(brokerWith({}), worker(), CONFIG)
    expect(findings).toEqual([
      { check: 'rights of the worker', verdict: 'ok', message: 'the client has those that it needs' },
    ])
    const create = { 'CREATE connect-configs': 'missing', 'CREATE connect-offsets': 'unknown' } as const
    const existing = brokerWith(create, { 'connect-configs': 'exists', 'connect-offsets': 'exists' })
    expect((await checkProgramRights(existing, worker(), CONFIG)).findings).toHaveLength(1)
  })

  it('that are missing are one problem for each resource, with the command that grants them', async () => {
    const broker = brokerWith({ 'READ connect-cluster': 'missing', 'WRITE connect-status': 'missing' })
    const { findings, deniedTopics } = await checkProgramRights(broker, worker(), CONFIG)
    expect(findings).toEqual([
      {
        check: 'rights of the worker on group connect-cluster',
        verdict: 'problem',
        message: 'READ (it is a member of the group of workers) is missing: the worker does not work without it',
        remedy:
          "kafka-acls.sh --bootstrap-server kafka-1:9092 --command-config ADMIN.properties --add --allow-principal 'User:the worker' " +
          '--operation Read --group connect-cluster',
      },
      {
        check: 'rights of the worker on topic connect-status',
        verdict: 'problem',
        message: 'WRITE (it writes statuses) is missing: the worker does not work without it',
        remedy: expect.stringMatching(/--operation Write --topic connect-status$/),
      },
    ])
    expect([...deniedTopics]).toEqual(['connect-status'])
  })

  it('on a hidden topic are granted by one command, with those that nobody can see', async () => {
    const all = { READ: 'missing', WRITE: 'missing', DESCRIBE_CONFIGS: 'unknown', CREATE: 'unknown' } as const
    const states = Object.fromEntries(Object.entries(all).map(([right, state]) => [`${right} _schemas`, state]))
    const { findings } = await checkProgramRights(brokerWith(states, { _schemas: 'hidden' }), registry(), CONFIG)
    expect(findings[0]).toMatchObject({
      verdict: 'problem',
      message: expect.stringContaining('and perhaps DESCRIBE_CONFIGS and CREATE are missing'),
      remedy: expect.stringMatching(
        /--operation Read --operation Write --operation DescribeConfigs --operation Create --topic _schemas$/,
      ),
    })
  })

  it.each([
    [{ 'CREATE _schemas': 'missing' }, 'problem', /somebody has to create the topic, with one partition/],
    [{ 'CREATE _schemas': 'unknown' }, 'warning', /CREATE may be missing: the topic does not exist/],
    [{ 'WRITE _dek_registry_keys': 'missing' }, 'warning', /responds with 503/],
    [{ 'WRITE schema-registry-_schemas-leader': 'missing' }, 'warning', /does not notice at start/],
  ] as const)('that it works without are described by what is lost: %j', async (states, verdict, message) => {
    const { findings } = await checkProgramRights(brokerWith(states), registry(), CONFIG)
    expect(findings).toMatchObject([{ verdict, message: expect.stringMatching(message) }])
  })

  it('are those on the names of its settings, without those of what is switched off', () => {
    const named = (acls: readonly AccessRight[]) => acls.map(formatRight)
    const own = named(
      registry({
        'kafkastore.topic': 'schemas-eu',
        'schema.registry.group.id': 'eu',
        'weir.dek.registry.enable': 'false',
        'kafkastore.topic.skip.validation': 'true',
      }).acls,
    )
    expect(own).toEqual([
      'READ on topic schemas-eu',
      'WRITE on topic schemas-eu',
      'CREATE on cluster or topic schemas-eu',
      'READ on group eu',
      'WRITE on transactional id eu-schemas-eu-leader',
    ])
    const workerAcls = named(worker({ 'group.id': 'g', 'status.storage.topic': 's' }).acls)
    expect(workerAcls).toEqual(
      expect.arrayContaining(['READ on group g', 'WRITE on topic s', 'READ on topic connect-configs']),
    )
    expect(named(worker({ 'storage.topics.skip.validation': 'true' }).acls).join()).not.toContain('DESCRIBE_CONFIGS')
  })

  it('are a warning where brokers report none', async () => {
    const checkNone = async (rights: readonly AccessRight[]) => rights.map(() => 'unknown' as const)
    const { findings } = await checkProgramRights({ ...brokerWith({}), checkRights: checkNone }, worker(), CONFIG)
    expect(findings).toMatchObject([{ verdict: 'warning', message: expect.stringContaining('are not known') }])
  })

  it.each([
    [{ 'bootstrap.servers': 'k:9092' }, '--bootstrap-server k:9092 --add --allow-principal User:ANONYMOUS '],
    [{ 'security.protocol': 'ssl' }, 'ADMIN.properties --add --allow-principal User:NAME '],
  ])('name the client as the brokers know it, if that follows from its settings: %j', async (config, line) => {
    const broker = brokerWith({ 'READ connect-cluster': 'missing' })
    const { findings } = await checkProgramRights(broker, worker(), config)
    expect(findings[0]?.remedy).toContain(line)
  })
})
