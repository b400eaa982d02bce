import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { Controller } from '../../src/operator/controller/controller.ts'
import { WorkQueue } from '../../src/operator/controller/work-queue.ts'
import type { Condition } from '../../src/operator/resources/common-status.ts'
import { buildConditions } from '../../src/operator/resources/condition.ts'
import type { ResourceKey } from '../../src/operator/resources/resource.ts'
import { createReconcilerFixture } from '../support/reconciler-fixture.ts'
import { until } from '../support/until.ts'

it('reconciles a resource that is edited every 10 ms without queuing every edit, and applies the last one', {
  tags: ['slow'],
}, async () => {
  // Loads the format in advance: the fake clock does not include the time of the import.
  await import('../../src/formats/avro/avro-format.ts')
  const { cluster, clock, registry, subjects } = createReconcilerFixture()
  const lookup = registry.lookup.bind(registry)
  // Each lookup takes 100 ms.
  registry.lookup = async (...call) => {
    await clock.sleep(100)
    return lookup(...call)
  }
  const { reconcile } = subjects()
  let reconciles = 0
  const controller = new Controller<ResourceKey>({
    queue: new WorkQueue({ clock, flowConcurrency: 4 }),
    clock,
    logger: silentLogger(),
    reconcile: (key) => {
      reconciles += 1
      return reconcile(key as ResourceKey<'Subject'>)
    },
  })
  cluster.onChange(({ key, type }) => {
    if (type === 'desired') controller.queue.add(key)
  })
  controller.start()
  onTestFinished(() => controller.stop())
  const edits = 1_000
  let key: ResourceKey<'Subject'> | undefined
  for (let edit = 1; edit <= edits; edit++) {
    key = cluster.apply('Subject', 'busy', {
      schema: JSON.stringify({ type: 'enum', name: 'E', symbols: [`S${edit}`] }),
      compatibility: 'NONE',
    })
    expect(controller.queue.length).toBeLessThanOrEqual(1)
    await clock.advance(10)
  }
  // 10 s of edits: no more reconciles than fit into that time one after the other.
  expect(reconciles).toBeLessThanOrEqual(110)
  await until('the last edit', { everyMs: 1, timeoutMs: 25_000 }, async () => {
    await clock.advance(100)
    return cluster.get(key!)?.status.observedGeneration === edits
  })
  await clock.advance(1_000)
  const settled = reconciles
  await clock.advance(20_000)
  expect(reconciles).toBe(settled)
  const { status, metadata } = cluster.get(key!)!
  expect([status.observedGeneration, metadata.generation]).toEqual([edits, edits])
  expect(registry.schemas.get('busy')?.at(-1)?.schema).toContain(`S${edits}`)
  expect(registry.schemas.get('busy')!.length).toBeLessThanOrEqual(settled)
})

it('reports an object that it cannot read by a condition, keeps its status, and deletes it when forced to', async () => {
  const { cluster, connectors } = createReconcilerFixture()
  const key: ResourceKey<'Connector'> = 'Connector/default/newer'
  const metadata = {
    namespace: 'default',
    name: 'newer',
    uid: 'u',
    generation: 3,
    creationTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['weir.dev/connector'],
    labels: {},
    annotations: {},
  }
  const status = { observedGeneration: 2, conditions: [], configHash: 'hash' }
  const reason = "spec.state: 'Draining' is not allowed"
  const message = expect.stringMatching(
    /^version \S+ of the operator cannot read the object: spec.state: 'Draining' is not allowed$/,
  )
  cluster.unreadables.set(key, { metadata, status, reason })
  const { reconcile } = connectors()
  const changes: string[] = []
  cluster.onChange(({ type }) => changes.push(type))
  const stuck = { status: 'False', reason: 'UnsupportedSpec', message, observedGeneration: 3 }
  for (let time = 0; time < 2; time++) {
    expect(await reconcile(key)).toBe('none')
    expect(cluster.unreadable(key)?.status).toMatchObject({
      observedGeneration: 3,
      configHash: 'hash',
      conditions: [
        { type: 'Ready', ...stuck },
        { type: 'Stalled', ...stuck, status: 'True' },
      ],
    })
  }
  expect(changes).toEqual(['status'])
  const deletionTimestamp = '2026-01-02T00:00:00Z'
  cluster.unreadables.set(key, { metadata: { ...metadata, deletionTimestamp }, status, reason })
  await reconcile(key)
  expect(cluster.unreadable(key)?.status.conditions[0]?.message).toMatch(
    /'Draining' is not allowed; its deletion waits for that, or for weir.dev\/force-delete: "true"$/,
  )
  const annotations = { 'weir.dev/force-delete': 'true' }
  cluster.unreadables.set(key, { metadata: { ...metadata, deletionTimestamp, annotations }, status, reason })
  await reconcile(key)
  expect(cluster.unreadable(key)).toBeUndefined()
})

it('keeps the number of conditions and the length of messages bounded after 10,000 changes', { tags: ['slow'] }, () => {
  let conditions: readonly Condition[] = []
  for (let change = 0; change < 10_000; change++) {
    const progress = (['reconciling', 'stalled'] as const)[change % 2]!
    const otherConditions = [{ type: 'Synced', status: 'False', reason: 'Drifted', message: `${change}` }] as const
    const readiness = {
      status: 'False',
      reason: 'Drifted',
      message: 'x'.repeat(40_000 + change),
      progress,
      otherConditions,
    } as const
    conditions = buildConditions(readiness, conditions, change, change)
  }
  expect(conditions.map(({ type }) => type)).toEqual(['Ready', 'Synced', 'Stalled'])
  expect(Math.max(...conditions.map(({ message }) => Buffer.byteLength(message)))).toBe(4_096)
  expect(conditions[0]?.lastTransitionTime).toBe(new Date(0).toISOString())
})

it('truncates a message at a character boundary, so that the API server stores the same text', () => {
  const message = `${'x'.repeat(4_091)}\u{1d4b6}\u{1d4b6}`
  const readiness = { status: 'False', reason: 'TaskFailed', message } as const
  const kept = buildConditions(readiness, [], 1, 0)[0]?.message
  expect(kept === `${'x'.repeat(4_091)}…`).toBe(true)
})
