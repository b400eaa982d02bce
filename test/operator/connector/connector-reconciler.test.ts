import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { RequestError } from '../../../src/clients/http-client.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let { clock, cluster, worker, connectors: operator } = createReconcilerFixture()

beforeEach(() => {
  ;({ clock, cluster, worker, connectors: operator } = createReconcilerFixture())
})

const datagen = { class: 'Datagen', config: { topic: 'orders' } }

describe('the reconcile of a Connector', () => {
  it('creates the connector with the ownership marker, and reports Ready when its tasks run', async () => {
    const key = cluster.apply('Connector', 'orders', { ...datagen, tasksMax: 2 })
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(worker.connectors.get('orders')?.config).toEqual({
      name: 'orders',
      'connector.class': 'Datagen',
      'tasks.max': '2',
      topic: 'orders',
      'weir.owner': 'test/default/orders',
    })
    expect(cluster.get(key)?.status.tasks?.summary).toBe('2/2')
  })

  it('polls a new connector that is unassigned with growing pauses', async () => {
    const key = cluster.apply('Connector', 'orders', datagen)
    const { reconcile, readiness } = operator()
    expect(await reconcile(key)).toEqual({ afterMs: 250 })
    const made = worker.connectors.get('orders')!
    Object.assign(made, { state: 'UNASSIGNED', tasks: [] })
    const pauses: unknown[] = []
    for (let afterMs = 250, count = 0; count < 4; count++) {
      await clock.advance(afterMs)
      const requeue = await reconcile(key)
      pauses.push(requeue)
      afterMs = typeof requeue === 'string' ? 0 : requeue.afterMs
    }
    expect(pauses).toEqual([250, 500, 1_000, 2_000].map((afterMs) => ({ afterMs })))
    await clock.advance(2_000)
    await reconcile(key)
    expect(readiness(key)).toBe('Reconciling/Progressing')
    Object.assign(made, { state: 'RUNNING', tasks: [{ state: 'RUNNING' }] })
    await reconcile(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
  })

  it('reports Ready only when every created task has started', async () => {
    const key = cluster.apply('Connector', 'orders', { ...datagen, tasksMax: 2 })
    const { reconcile, settle, readiness } = operator()
    await reconcile(key)
    const status = worker.status.bind(worker)
    worker.status = async (name) => ({ ...(await status(name)), tasks: (await status(name)).tasks.slice(1) })
    await clock.advance(8_000)
    await reconcile(key)
    expect(readiness(key)).toBe('Reconciling/Progressing')
    expect(cluster.get(key)?.status.tasks).toMatchObject({ total: 2, unassigned: 1 })
    worker.status = status
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
  })

  it('creates the connector in its target state', async () => {
    const key = cluster.apply('Connector', 'orders', { ...datagen, state: 'Stopped' })
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(worker.writes).toEqual(['create orders'])
  })

  it('requests no status of a connector that does not exist', async () => {
    cluster.apply('Subject', 'later', { schema: '"int"' })
    const asked: string[] = []
    const status = worker.status.bind(worker)
    worker.status = (name) => {
      asked.push(name)
      return status(name)
    }
    const key = cluster.apply('Connector', 'orders', { ...datagen, subjectRefs: [{ name: 'later' }] })
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Reconciling/WaitingForSubject')
    expect(asked).toEqual([])
  })

  it('applies changes of the configuration and of the target state', async () => {
    const { settle } = operator()
    const key = cluster.apply('Connector', 'orders', datagen)
    await settle(key)
    cluster.apply('Connector', 'orders', { ...datagen, config: { topic: 'other' }, state: 'Paused' })
    await settle(key)
    expect(worker.connectors.get('orders')).toMatchObject({ config: { topic: 'other' }, state: 'PAUSED' })
  })

  it('reaches a state in which the next reconcile writes nothing, from any state of the worker', async () => {
    const spec = fc.record({
      class: fc.constant('Datagen'),
      tasksMax: fc.integer({ min: 1, max: 3 }),
      state: fc.constantFrom('Running', 'Paused', 'Stopped'),
      config: fc.dictionary(fc.constantFrom('topic', 'rate', 'seed'), fc.constantFrom('1', '2')),
    })
    const present = fc.record({
      config: fc.dictionary(fc.constantFrom('topic', 'rate', 'extra'), fc.constantFrom('1', '2')),
      state: fc.constantFrom('RUNNING' as const, 'PAUSED' as const, 'STOPPED' as const),
    })
    await fc.assert(
      fc.asyncProperty(spec, fc.option(present), fc.option(spec), async (declared, before, changed) => {
        ;({ cluster, worker, connectors: operator } = createReconcilerFixture())
        if (before !== null) worker.connectors.set('orders', { ...before, tasks: [], offsets: [] })
        const { settle, readiness, reconcile } = operator()
        const key = cluster.apply('Connector', 'orders', declared)
        await settle(key)
        if (changed !== null) cluster.apply('Connector', 'orders', changed)
        await settle(key)
        const writes = worker.writes.length
        const status = cluster.get(key)?.status
        await reconcile(key)
        expect(worker.writes.slice(writes)).toEqual([])
        expect(cluster.get(key)?.status).toBe(status)
        expect(readiness(key)).toBe('Ready=True/Succeeded')
      }),
      { numRuns: propertyRuns(60) },
    )
  })

  it('waits for the referenced Subjects before it creates the connector', async () => {
    const subject = cluster.apply('Subject', 'orders-value', { compatibility: 'FULL' })
    const key = cluster.apply('Connector', 'orders', { ...datagen, subjectRefs: [{ name: 'orders-value' }] })
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Reconciling/WaitingForSubject')
    expect(worker.writes).toEqual([])
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'Succeeded',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: '',
    } as const
    await cluster.writeStatus(subject, { observedGeneration: 1, conditions: [ready] })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
  })

  it('reads configuration from ConfigMaps, and keeps the last one while they are missing', async () => {
    const spec = { ...datagen, configFrom: [{ configMapRef: { name: 'base' } }] }
    const key = cluster.apply('Connector', 'orders', spec)
    const { settle, readiness, condition } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Reconciling/WaitingForInput')
    cluster.configMaps.set('default/base', { rate: '5', topic: 'loses' })
    await settle(key)
    expect(worker.connectors.get('orders')?.config).toMatchObject({ rate: '5', topic: 'orders' })
    cluster.configMaps.clear()
    await settle(key)
    expect(condition(key, 'Synced')).toMatchObject({ status: 'False', reason: 'InputMissing' })
    expect(worker.connectors.get('orders')?.config).toMatchObject({ rate: '5' })
  })

  it('waits for the key `toString`, which all JavaScript objects have, until its ConfigMap contains it', async () => {
    cluster.configMaps.set('default/base', { rate: '5' })
    const valuesFrom = [{ key: 'note', configMapKeyRef: { name: 'base', key: 'toString' } }]
    const key = cluster.apply('Connector', 'orders', { ...datagen, valuesFrom })
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Reconciling/WaitingForInput')
    expect(worker.connectors.has('orders')).toBe(false)
  })

  it('sends a placeholder for a Secret without reading it', async () => {
    const valuesFrom = [{ key: 'password', secretKeyRef: { name: 'db', key: 'pass' } }]
    const key = cluster.apply('Connector', 'orders', { ...datagen, valuesFrom })
    await operator().settle(key)
    expect(worker.connectors.get('orders')?.config['password']).toBe('${secret:default/db:pass}')
  })
})

describe('a configuration that the worker rejects', () => {
  it.each([
    ['an unknown connector class', { class: 'Nothing' }, 'Stalled/PluginNotFound'],
    ['an invalid value', { class: 'Datagen', config: { wrong: 'x' } }, 'Stalled/ConfigInvalid'],
  ])('is reported for %s, and nothing is created', async (_, spec, expected) => {
    const key = cluster.apply('Connector', 'orders', spec)
    const { reconcile, readiness, condition } = operator()
    await reconcile(key)
    expect(readiness(key)).toBe(expected)
    expect(`Stalled/${condition(key, 'Synced')?.reason}`).toBe(expected)
    expect(worker.writes).toEqual([])
  })

  it('is created with the next observation of the worker after its class was installed', async () => {
    const key = cluster.apply('Connector', 'orders', { class: 'Installed' })
    const { reconcile, settle, readiness } = operator()
    expect(await reconcile(key)).toEqual({ afterMs: 30_000 })
    worker.classes.add('Installed')
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
  })

  it('is validated separately only after the rejection, to find the invalid keys', async () => {
    const { settle, condition } = operator()
    const key = cluster.apply('Connector', 'orders', datagen)
    await settle(key)
    cluster.apply('Connector', 'orders', { ...datagen, tasksMax: 2 })
    await settle(key)
    expect([worker.writes, worker.validations]).toEqual([['create orders', 'putConfig orders'], []])
    cluster.apply('Connector', 'orders', { ...datagen, config: { wrong: 'x' } })
    await settle(key)
    expect(condition(key, 'Stalled')).toMatchObject({ reason: 'ConfigInvalid', message: 'wrong: Invalid value x' })
    expect([worker.writes.length, worker.validations]).toEqual([2, ['Datagen']])
  })

  it('does not make a Ready connector unready for a minute while the worker does not respond', async () => {
    const key = cluster.apply('Connector', 'orders', datagen)
    const { reconcile, settle, readiness } = operator()
    await settle(key)
    worker.failure = new RequestError(0, 0, 'connection refused')
    expect(await reconcile(key)).toBe('rate-limited')
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    await clock.advance(61_000)
    await reconcile(key)
    expect(readiness(key)).toBe('Ready=Unknown/WorkerUnreachable')
    worker.failure = undefined
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
  })
})

describe('ownership', () => {
  const foreign = (owner?: string) => ({
    config: { 'connector.class': 'Datagen', ...(owner === undefined ? {} : { 'weir.owner': owner }) },
    state: 'RUNNING' as const,
    tasks: [],
    offsets: [],
  })

  it('does not change a connector of another owner without the annotation take-over', async () => {
    worker.connectors.set('orders', foreign('other/ns/orders'))
    const key = cluster.apply('Connector', 'orders', datagen)
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Stalled/Conflict')
    expect(worker.writes).toEqual([])
    cluster.apply('Connector', 'orders', datagen, { 'weir.dev/take-over': 'other/ns/orders' })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
  })

  it.each([
    ['Adopt', 'Ready=True/Succeeded'],
    ['AdoptIfIdentical', 'Stalled/AdoptionRefused'],
    ['Never', 'Stalled/AlreadyExists'],
  ])('handles a connector without an owner according to adoptionPolicy %s', async (adoptionPolicy, expected) => {
    worker.connectors.set('orders', foreign())
    const key = cluster.apply('Connector', 'orders', { ...datagen, adoptionPolicy })
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe(expected)
  })

  it('assigns a connector to one of two resources, and to the other when the first is deleted', async () => {
    const first = cluster.apply('Connector', 'first', { ...datagen, name: 'orders' })
    const second = cluster.apply('Connector', 'second', { ...datagen, name: 'orders' })
    const { settle, readiness } = operator()
    await settle(second)
    await settle(first)
    expect([readiness(first), readiness(second)]).toEqual(['Ready=True/Succeeded', 'Stalled/Conflict'])
    cluster.remove(first)
    await settle(first)
    await settle(second)
    expect(readiness(second)).toBe('Ready=True/Succeeded')
  })
})

describe('drift', () => {
  it.each([
    ['Correct', 'orders', 'True'],
    ['Report', 'by hand', 'False'],
  ])('is handled according to driftPolicy %s', async (driftPolicy, topic, synced) => {
    const key = cluster.apply('Connector', 'orders', { ...datagen, driftPolicy })
    const { settle, condition } = operator()
    await settle(key)
    const connector = worker.connectors.get('orders')!
    connector.config = { ...connector.config, topic: 'by hand' }
    await settle(key)
    expect(worker.connectors.get('orders')?.config['topic']).toBe(topic)
    expect(condition(key, 'Synced')?.status).toBe(synced)
  })

  it('includes a deleted connector, which is created again', async () => {
    const key = cluster.apply('Connector', 'orders', datagen)
    const { settle, readiness } = operator()
    await settle(key)
    worker.connectors.delete('orders')
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(worker.connectors.has('orders')).toBe(true)
  })

  it('is only reported while the resource is suspended', async () => {
    const key = cluster.apply('Connector', 'orders', { ...datagen, suspend: true })
    const { reconcile, condition } = operator()
    await reconcile(key)
    expect(worker.writes).toEqual([])
    expect(condition(key, 'Suspended')?.status).toBe('True')
    expect(condition(key, 'Reconciling')).toBeUndefined()
  })
})
