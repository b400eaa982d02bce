import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { checkStateTopics } from '../../../src/cli/doctor/check-broker.ts'
import { checkExpiry } from '../../../src/cli/doctor/check-certificate.ts'
import { checkClock } from '../../../src/cli/doctor/check-clock.ts'
import { checkDisk } from '../../../src/cli/doctor/check-disk.ts'
import { checkRuntime } from '../../../src/cli/doctor/check-runtime.ts'
import { doctorText } from '../../../src/cli/doctor/doctor-finding.ts'
import { systemClock } from '../../../src/common/clock.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { startHttpServer } from '../../support/http-server.ts'

const NOW = Date.parse('2026-11-28T12:00:00.500Z')

describe('the clock of a program', () => {
  const check = (date: string | undefined, tookMs = 100) =>
    checkClock('worker', date, { sentMs: NOW - tookMs, receivedMs: NOW })

  it.each([
    ['Sat, 28 Nov 2026 12:00:00 GMT', 'ok', /agrees/],
    ['Sat, 28 Nov 2026 12:00:10 GMT', 'warning', /is 10 s ahead of/],
    ['Sat, 28 Nov 2026 11:59:30 GMT', 'warning', /is 29 s behind/],
    ['Sat, 28 Nov 2026 13:00:00 GMT', 'problem', /is 3600 s ahead of/],
  ])('at %s is %s', (date, verdict, message) => {
    expect(check(date)).toMatchObject({ verdict, message: expect.stringMatching(message) })
  })

  it('agrees within the time of a slow request, and is left out without a date', () => {
    expect(check('Sat, 28 Nov 2026 11:59:31 GMT', 30_000)).toMatchObject({ verdict: 'ok' })
    expect(check(undefined)).toBeUndefined()
  })
})

it.each([
  [40, 'ok', /is valid until 2027-01-07/],
  [29.5, 'warning', /expires in 29 days, on 2026-12-28/],
  [-1, 'problem', /has expired on 2026-11-27/],
])('a certificate that ends in %d days is %s', (days, verdict, message) => {
  expect(checkExpiry('certificate', NOW + days * 86_400_000, NOW)).toMatchObject({
    verdict,
    message: expect.stringMatching(message),
  })
})

it.each([
  [50, 100, 'ok'],
  [4, 100, 'warning'],
  [0.5, 5, 'warning'],
  [0.05, 100, 'problem'],
])('%d GiB of %d are %s', (free, total, verdict) => {
  const bytes = (gibibytes: number) => gibibytes * 1024 ** 3
  expect(checkDisk('/d', { freeBytes: bytes(free), totalBytes: bytes(total) })).toMatchObject({ verdict })
})

describe('the topics of the programs', () => {
  let broker: Broker
  beforeAll(async () => {
    broker = await openBroker({ kind: 'embedded', directory: ':memory:' }, { logger: silentLogger() })
    await broker.topics.create({ name: 'kept', configs: { 'cleanup.policy': 'compact' } })
    await broker.topics.create({ name: 'deleted' })
  })
  afterAll(() => broker.close())
  const topic = (name: string) => ({ program: 'worker', setting: 'config.storage.topic', name }) as const

  it('must be compacted, if they exist', async () => {
    const found = await checkStateTopics(broker, ['kept', 'deleted', 'missing'].map(topic))
    expect(found.map(({ verdict }) => verdict)).toEqual(['ok', 'problem', 'ok'])
    expect(found[1]).toMatchObject({
      message: 'has cleanup.policy delete: Kafka deletes the state of the worker after the retention time',
      remedy: 'set cleanup.policy=compact on the topic',
    })
  })

  it('that may not be read are a problem with the missing right', async () => {
    const describeTopic = () =>
      Promise.reject(new BrokerError('not_authorized', 'not authorized: DESCRIBE on topic kept'))
    const denied = { topics: { describe: describeTopic } } as unknown as Broker
    const [found] = await checkStateTopics(denied, [topic('kept')])
    expect(found).toMatchObject({
      verdict: 'problem',
      message: 'not authorized: DESCRIBE on topic kept',
      remedy: expect.stringContaining('docs/acls.md'),
    })
  })
})

describe('a worker', () => {
  it('with failed connectors is a problem that names them', async () => {
    const instance = (state: string) => ({ state, worker_id: 'w' })
    const status = {
      name: 'a',
      connector: instance('RUNNING'),
      tasks: [{ ...instance('FAILED'), id: 0 }],
      type: 'sink',
    }
    const { url } = await startHttpServer(({ path }) => ({
      status: 200,
      body: JSON.stringify(path === '/' ? { version: '4.3.1', commit: 'c', kafka_cluster_id: 'k' } : { a: { status } }),
    }))
    const { clusterId, findings } = await checkRuntime('worker', { url }, systemClock)
    expect(clusterId).toBe('k')
    expect(findings).toMatchObject([
      { check: 'worker', verdict: 'ok' },
      { check: 'connectors', verdict: 'problem', message: '1 of 1 are FAILED: a' },
      { check: 'clock of the worker', verdict: 'ok' },
    ])
  })

  it('that does not respond, or denies access, is a problem', async () => {
    const { findings } = await checkRuntime('worker', { url: 'http://127.0.0.1:1' }, systemClock)
    expect(findings[0]).toMatchObject({ verdict: 'problem', remedy: expect.stringContaining('start it') })
    const { url } = await startHttpServer(() => ({ status: 401, body: '{"message":"no"}' }))
    const denied = await checkRuntime('registry', { url }, systemClock)
    expect(denied.findings[0]).toMatchObject({ verdict: 'problem', remedy: expect.stringContaining('--user') })
  })
})

it('each finding is one line, with what to do below it', () => {
  expect(
    doctorText([
      { check: 'disk', verdict: 'ok', message: 'free\u001b' },
      { check: 'clock', verdict: 'warning', message: 'behind', remedy: 'synchronize' },
    ]),
  ).toBe('ok       disk: free\\u001b\nwarning  clock: behind\n         → synchronize')
})
