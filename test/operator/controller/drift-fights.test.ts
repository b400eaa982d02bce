import { beforeEach, describe, expect, it } from 'vitest'
import type { ResourceKey, ResourceKind } from '../../../src/operator/resources/resource.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let fixture = createReconcilerFixture()

beforeEach(() => {
  fixture = createReconcilerFixture()
})

const MINUTE_MS = 60_000

/** Another client changes the connector every minute. Returns which changes were corrected. */
async function fight<K extends ResourceKind>(
  key: ResourceKey<K>,
  operator: { settle(key: ResourceKey<K>): Promise<unknown> },
  { change, isRight, times }: { change: () => void; isRight: () => boolean; times: number },
): Promise<readonly boolean[]> {
  const outcomes: boolean[] = []
  for (let time = 0; time < times; time++) {
    await fixture.clock.advance(MINUTE_MS)
    change()
    await operator.settle(key)
    outcomes.push(isRight())
  }
  return outcomes
}

describe('a drift fight', () => {
  it('suspends the corrections of a Connector after three, and corrects every five minutes', async () => {
    const { cluster, worker } = fixture
    const key = cluster.apply('Connector', 'orders', { class: 'Datagen', config: { topic: 'orders' } })
    const operator = fixture.connectors()
    await operator.settle(key)
    const change = () => {
      const there = worker.connectors.get('orders')!
      worker.connectors.set('orders', { ...there, config: { ...there.config, topic: 'theirs' } })
    }
    const isRight = () => worker.connectors.get('orders')?.config['topic'] === 'orders'
    const outcomes = await fight(key, operator, { change, isRight, times: 10 })
    expect(outcomes).toEqual([true, true, true, false, false, false, false, true, false, false])
    expect(operator.readiness(key)).toBe('Ready=True/Succeeded')
    expect(operator.condition(key, 'Synced')).toMatchObject({
      status: 'False',
      reason: 'DriftFight',
      message: expect.stringContaining('another client keeps changing it'),
    })
  })

  it('suspends the corrections of a RegistryMode', async () => {
    const { cluster, registry } = fixture
    const key = cluster.apply('RegistryMode', 'freeze', { mode: 'READONLY' })
    const operator = fixture.modes()
    await operator.settle(key)
    const change = () => void registry.putMode('READWRITE')
    const outcomes: string[] = []
    const isRight = () => {
      outcomes.push(operator.condition(key, 'Synced')?.reason ?? '')
      return true
    }
    await fight(key, operator, { change, isRight, times: 5 })
    expect(outcomes).toEqual(['Succeeded', 'Succeeded', 'Succeeded', 'DriftFight', 'DriftFight'])
  })

  it('is not detected for rare changes', async () => {
    const { cluster, worker, clock } = fixture
    const key = cluster.apply('Connector', 'orders', { class: 'Datagen', config: { topic: 'orders' } })
    const operator = fixture.connectors()
    await operator.settle(key)
    for (let time = 0; time < 6; time++) {
      await clock.advance(4 * MINUTE_MS)
      const there = worker.connectors.get('orders')!
      worker.connectors.set('orders', { ...there, config: { ...there.config, topic: 'theirs' } })
      await operator.settle(key)
      expect(worker.connectors.get('orders')?.config['topic']).toBe('orders')
    }
  })

  it('does not suspend changes of the declaration', async () => {
    const { cluster, worker } = fixture
    const key = cluster.apply('Connector', 'orders', { class: 'Datagen', config: { topic: '0' } })
    const operator = fixture.connectors()
    for (let time = 1; time <= 6; time++) {
      cluster.apply('Connector', 'orders', { class: 'Datagen', config: { topic: String(time) } })
      await operator.settle(key)
      expect(worker.connectors.get('orders')?.config['topic']).toBe(String(time))
    }
  })
})
