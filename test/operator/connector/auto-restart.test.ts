import { beforeEach, describe, expect, it } from 'vitest'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let { clock, cluster, worker, connectors: operator } = createReconcilerFixture()

beforeEach(() => {
  ;({ clock, cluster, worker, connectors: operator } = createReconcilerFixture())
})

const datagen = { class: 'Datagen', config: { topic: 'orders' } }

describe('automatic restarts', () => {
  it('restart failed tasks with growing delays, up to maxRestarts', async () => {
    const autoRestart = { maxRestarts: 2, initialBackoff: '10s', maxBackoff: '1m' }
    const key = cluster.apply('Connector', 'orders', { ...datagen, autoRestart })
    const { reconcile, settle, readiness, condition } = operator()
    await settle(key)
    for (const pauseMs of [10_000, 20_000]) {
      worker.failTask('orders', 0, 'java.lang.RuntimeException: disk full')
      await reconcile(key)
      expect(readiness(key)).toBe('Reconciling/TaskFailed')
      expect(condition(key, 'Ready')?.message).toContain('task 0 failed: disk full')
      await clock.advance(pauseMs - 1)
      await reconcile(key)
      expect(worker.connectors.get('orders')?.tasks[0]?.state).toBe('FAILED')
      await clock.advance(2)
      await reconcile(key)
      expect(worker.connectors.get('orders')?.tasks[0]?.state).toBe('RUNNING')
      await settle(key)
    }
    worker.failTask('orders', 0, 'disk full')
    await reconcile(key)
    expect(readiness(key)).toBe('Stalled/AutoRestartExhausted')
  })

  it('are reported in a message of bounded length that still has the time of the next one', async () => {
    const key = cluster.apply('Connector', 'orders', datagen)
    const { reconcile, settle, condition } = operator()
    await settle(key)
    worker.failTask('orders', 0, `java.lang.RuntimeException: ${'é'.repeat(100_000)}`)
    await reconcile(key)
    const message = condition(key, 'Ready')?.message ?? ''
    expect(message).toMatch(/^task 0 failed: é+…; restart 1 at \d\d:\d\d:\d\d UTC$/)
    expect(Buffer.byteLength(message)).toBeLessThan(1_200)
    await clock.advance(13_000)
    await reconcile(key)
    expect(cluster.get(key)?.status.autoRestart?.lastRestartReason).toMatch(/^task 0 failed: é+…$/)
  })

  it('start counting again when the spec changes', async () => {
    const autoRestart = { maxRestarts: 1, initialBackoff: '10s' }
    const key = cluster.apply('Connector', 'orders', { ...datagen, autoRestart })
    const { reconcile, settle, readiness } = operator()
    await settle(key)
    const fail = async (trace: string) => {
      worker.failTask('orders', 0, trace)
      await reconcile(key)
    }
    await fail('java.lang.RuntimeException: disk full')
    await clock.advance(13_000)
    await settle(key)
    expect(cluster.get(key)?.status.autoRestart).toMatchObject({
      count: 1,
      lastRestartReason: 'task 0 failed: disk full',
    })
    await fail('disk full')
    expect(readiness(key)).toBe('Stalled/AutoRestartExhausted')
    cluster.apply('Connector', 'orders', { ...datagen, autoRestart, config: { ...datagen.config, topic: 'payments' } })
    await settle(key)
    await fail('disk full')
    expect(readiness(key)).toBe('Reconciling/TaskFailed')
    expect(cluster.get(key)?.status.autoRestart).toMatchObject({ count: 0, nextRestartTime: expect.any(String) })
  })

  it.each(['connector', 'task'] as const)(
    'report a failed %s of a Connector whose target state is Paused, and do not restart it',
    async (what) => {
      const key = cluster.apply('Connector', 'orders', { ...datagen, state: 'Paused' })
      const { settle, readiness } = operator()
      await settle(key)
      const connector = worker.connectors.get('orders')!
      if (what === 'connector') connector.state = 'FAILED'
      else connector.tasks[0] = { state: 'FAILED', trace: 'disk full' }
      await settle(key)
      expect(readiness(key)).toBe(what === 'connector' ? 'Stalled/ConnectorFailed' : 'Stalled/TaskFailed')
    },
  )

  it('clear the count after resetAfter without a failure', async () => {
    const key = cluster.apply('Connector', 'orders', {
      ...datagen,
      autoRestart: { initialBackoff: '1s', resetAfter: '1m' },
    })
    const { reconcile, settle } = operator()
    await settle(key)
    worker.failTask('orders', 0, 'once')
    await reconcile(key)
    await clock.advance(1_001)
    await reconcile(key)
    await settle(key)
    expect(cluster.get(key)?.status.autoRestart?.count).toBe(1)
    await clock.advance(61_000)
    await settle(key)
    expect(cluster.get(key)?.status.autoRestart).toBeUndefined()
  })

  it('happen once for each new value of the annotation restart-requested-at, but not for the value at creation', async () => {
    const token = (value: string) => ({ 'weir.dev/restart-requested-at': value })
    const key = cluster.apply('Connector', 'orders', datagen, token('1'))
    const { settle } = operator()
    await settle(key)
    expect(worker.writes).toEqual(['create orders'])
    cluster.apply('Connector', 'orders', datagen, token('2'))
    await settle(key)
    await settle(key)
    expect(worker.writes).toEqual(['create orders', 'restart orders'])
  })
})
