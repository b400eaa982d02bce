import { beforeEach, describe, expect, it } from 'vitest'
import { RequestError } from '../../../src/clients/http-client.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'
import { SECRET_ENCODINGS } from '../../support/secret-encodings.ts'

let { clock, cluster, worker, runtimeConfigs, connectors: operator } = createReconcilerFixture()

beforeEach(() => {
  ;({ clock, cluster, worker, runtimeConfigs, connectors: operator } = createReconcilerFixture())
})

const secretKeyRef = { name: 's3', key: 'secret' }
const taking = (more: object = {}) => ({
  class: 'Datagen',
  config: { topic: 'orders' },
  valuesFrom: [{ key: 's3.key', secretKeyRef, ...more }],
})
const restarts = () => worker.writes.filter((write) => write.startsWith('restart'))
const config = () => worker.connectors.get('orders')?.config

describe('a Secret with resolve: Worker', () => {
  const changeTo = (version: string) => cluster.secretVersions?.set('default/s3', version)

  beforeEach(() => {
    cluster.secretVersions = new Map([['default/s3', '1']])
  })

  it('restarts the connector once within 30 s when it changes', async () => {
    const { settle, reconcile, readiness } = operator()
    const key = cluster.apply('Connector', 'orders', taking())
    await settle(key)
    expect(config()?.['s3.key']).toBe('${secret:default/s3:secret}')
    changeTo('2')
    expect(await reconcile(key)).toEqual({ afterMs: 15_000 })
    expect([readiness(key), restarts()]).toEqual(['Ready=True/Succeeded', []])
    await clock.advance(15_000)
    await settle(key)
    expect(restarts()).toEqual(['restart orders'])
    await clock.advance(600_000)
    await settle(key)
    expect([readiness(key), restarts()]).toEqual(['Ready=True/Succeeded', ['restart orders']])
    expect(cluster.events).toContainEqual(
      expect.objectContaining({ reason: 'RestartRequested', note: expect.stringContaining('Secret') }),
    )
  })

  it('keeps the time of the restart when another process takes over, and when the clock is set back', async () => {
    const key = cluster.apply('Connector', 'orders', taking())
    await operator().settle(key)
    changeTo('2')
    await operator().reconcile(key)
    await clock.advance(10_000)
    clock.jump(-3_600_000)
    await operator().reconcile(key)
    await clock.advance(30_000)
    await operator().settle(key)
    expect(restarts()).toEqual(['restart orders'])
  })

  it('causes no restart with onChange: Ignore', async () => {
    const { settle } = operator()
    const key = cluster.apply('Connector', 'orders', taking({ onChange: 'Ignore' }))
    await settle(key)
    changeTo('2')
    await settle(key)
    await clock.advance(60_000)
    await settle(key)
    expect(restarts()).toEqual([])
  })

  it('causes no restart of a stopped connector', async () => {
    const { settle } = operator()
    const key = cluster.apply('Connector', 'orders', { ...taking(), state: 'Stopped' })
    await settle(key)
    changeTo('2')
    await settle(key)
    cluster.apply('Connector', 'orders', taking())
    await settle(key)
    await clock.advance(60_000)
    await settle(key)
    expect(restarts()).toEqual([])
  })

  it('must exist before the connector is created, and its deletion does not affect a running connector', async () => {
    cluster.secretVersions = new Map()
    const { settle, readiness, condition } = operator()
    const key = cluster.apply('Connector', 'orders', taking())
    await settle(key)
    const inputs = () => {
      const { status, reason, message } = condition(key, 'InputsResolved') ?? {}
      return `${status}/${reason}: ${message}`
    }
    expect(readiness(key)).toBe('Reconciling/WaitingForInput')
    expect(inputs()).toBe('False/WaitingForInput: missing: Secret s3')
    expect(condition(key, 'Synced')).toMatchObject({ status: 'False', reason: 'WaitingForInput' })
    changeTo('1')
    await settle(key)
    expect(inputs()).toBe('True/Succeeded: all inputs exist')
    cluster.secretVersions.clear()
    await settle(key)
    expect([readiness(key), condition(key, 'Synced')?.reason]).toEqual(['Ready=True/Succeeded', 'InputMissing'])
    expect(inputs()).toBe('False/InputMissing: missing: Secret s3')
    expect(restarts()).toEqual([])
  })

  it('is not required to exist where Secrets are not watched', async () => {
    cluster.secretVersions = undefined
    const { settle, readiness } = operator()
    const key = cluster.apply('Connector', 'orders', taking())
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(cluster.get(key)?.status).not.toHaveProperty('inputsHash')
  })
})

describe('a Secret with resolve: Operator', () => {
  const inClear = taking({ resolve: 'Operator' })

  beforeEach(() => {
    runtimeConfigs.worker = { ...runtimeConfigs.worker, allowsInlineSecrets: true }
    cluster.secrets.set('default/s3', { secret: 'hunter2hunter2' })
  })

  it('is not sent unless allowInlineSecrets is true', async () => {
    runtimeConfigs.worker = { ...runtimeConfigs.worker, allowsInlineSecrets: false }
    const { settle, readiness, condition } = operator()
    const key = cluster.apply('Connector', 'orders', inClear)
    await settle(key)
    expect(readiness(key)).toBe('Stalled/NotAllowed')
    expect(condition(key, 'Ready')?.message).toMatch(/s3\.key .*worker default .*allowInlineSecrets.*resolve: Worker/)
    expect(worker.writes).toEqual([])
  })

  it('is sent in clear text with a Warning event, and sent again when it changes', async () => {
    const { settle } = operator()
    cluster.secretVersions = new Map([['default/s3', '1']])
    const key = cluster.apply('Connector', 'orders', inClear)
    await settle(key)
    expect(config()?.['s3.key']).toBe('hunter2hunter2')
    expect(cluster.events).toContainEqual({
      type: 'Warning',
      reason: 'Created',
      note: expect.stringMatching(/in clear text: s3\.key$/),
    })
    cluster.secrets.set('default/s3', { secret: 'rotated-value' })
    cluster.secretVersions.set('default/s3', '2')
    await settle(key)
    expect(config()?.['s3.key']).toBe('rotated-value')
    expect(cluster.events.map(({ reason }) => reason)).toEqual(['Created', 'Updated'])
  })

  it('does not appear in conditions, status or Events when the worker repeats its value', async () => {
    const { settle, readiness, condition } = operator()
    const key = cluster.apply('Connector', 'orders', inClear)
    worker.failure = new RequestError(400, 400, 'Invalid value hunter2hunter2 for s3.key', { retriable: false })
    await settle(key)
    expect(readiness(key)).toBe('Stalled/ConfigInvalid')
    expect(condition(key, 'Ready')?.message).toContain('Invalid value [hidden] for s3.key')
    worker.failure = undefined
    await settle(key)
    const connector = worker.connectors.get('orders')!
    const spelled = Object.values(SECRET_ENCODINGS).map((spelling) => spelling('hunter2hunter2'))
    connector.tasks = [{ state: 'FAILED', trace: `Error: 403 for ${spelled.join('\n')}` }]
    await operator().reconcile(key)
    expect(cluster.get(key)?.status.failedTasks).toHaveLength(1)
    const told = JSON.stringify([cluster.get(key)?.status, cluster.events])
    expect(spelled.filter((text) => told.includes(text))).toEqual([])
    expect(told).not.toContain('hunter2')
  })

  it('is masked in the same way when it is a password in config', async () => {
    const { settle, condition } = operator()
    const config = { topic: 'orders', 'db.password': 'correct horse' }
    const key = cluster.apply('Connector', 'orders', { class: 'Datagen', config })
    worker.failure = new RequestError(400, 400, 'login with correct horse failed', { retriable: false })
    await settle(key)
    expect(condition(key, 'Ready')?.message).toContain('login with [hidden] failed')
  })
})
