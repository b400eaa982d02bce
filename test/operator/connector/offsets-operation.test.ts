import { beforeEach, describe, expect, it } from 'vitest'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let { clock, cluster, worker, connectors: operator } = createReconcilerFixture()

beforeEach(() => {
  ;({ clock, cluster, worker, connectors: operator } = createReconcilerFixture())
})

const datagen = { class: 'Datagen', config: { topic: 'orders' } }

describe('an offsets operation', () => {
  const operation = (id: string) => ({
    operation: { id, type: 'Alter', offsets: [{ partition: { file: 'a' }, offset: { position: 42 } }] },
  })

  it('is executed once for each id, while the connector is stopped, which is resumed afterwards', async () => {
    const key = cluster.apply('Connector', 'orders', datagen)
    const { settle, readiness } = operator()
    await settle(key)
    cluster.apply('Connector', 'orders', { ...datagen, offsets: operation('rewind') })
    await settle(key)
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(worker.writes).toEqual(['create orders', 'stopped orders', 'alterOffsets orders', 'running orders'])
    expect(worker.connectors.get('orders')?.offsets).toEqual([{ partition: { file: 'a' }, offset: { position: 42 } }])
  })

  it('is executed before a new connector runs', async () => {
    const key = cluster.apply('Connector', 'orders', { ...datagen, offsets: operation('start') })
    await operator().settle(key)
    expect(worker.writes).toEqual(['create orders', 'alterOffsets orders', 'running orders'])
  })

  it('is not repeated by an operator that has lost the status', async () => {
    const key = cluster.apply('Connector', 'orders', { ...datagen, offsets: operation('rewind') })
    await operator().settle(key)
    const writes = worker.writes.length
    ;({ cluster, connectors: operator } = createReconcilerFixture({ worker }))
    const requeue = cluster.apply('Connector', 'orders', { ...datagen, offsets: operation('rewind') })
    await operator().settle(requeue)
    expect(worker.writes.slice(writes)).toEqual([])
  })
})

describe('offsets in a ConfigMap', () => {
  const OFFSETS = [{ partition: { file: 'a' }, offset: { position: 42 } }]
  const from = (type = 'Alter') => ({
    operation: { id: 'restore', type, offsetsFrom: { configMapKeyRef: { name: 'saved' } } },
  })
  const saved = () => JSON.parse(cluster.configMaps.get('default/saved')?.['offsets.json'] ?? 'null')
  const EXPORT = { export: { configMapRef: { name: 'saved' }, interval: '1h' } }

  it('are set as soon as the ConfigMap exists', async () => {
    const key = cluster.apply('Connector', 'orders', { ...datagen, offsets: from() })
    const { settle, readiness, condition } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Reconciling/WaitingForInput')
    expect(condition(key, 'InputsResolved')).toMatchObject({ status: 'False', reason: 'WaitingForInput' })
    expect(condition(key, 'Ready')?.message).toBe(
      'offsets operation restore: waiting for key offsets.json of ConfigMap saved',
    )
    cluster.configMaps.set('default/saved', { 'offsets.json': JSON.stringify({ offsets: OFFSETS }) })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(worker.connectors.get('orders')?.offsets).toEqual(OFFSETS)
  })

  it.each(['{', '[]', '{"offsets":[{"partition":{"file":"a"}}]}'])(
    'are rejected in another format: %s',
    async (text) => {
      cluster.configMaps.set('default/saved', { 'offsets.json': text })
      const key = cluster.apply('Connector', 'orders', { ...datagen, offsets: from() })
      const { settle, readiness, condition } = operator()
      await settle(key)
      expect(readiness(key)).toBe('Stalled/OffsetsRejected')
      expect(condition(key, 'Ready')?.message).toContain('ConfigMap saved/offsets.json does not contain {"offsets"')
      expect(worker.writes).toEqual(['create orders'])
    },
  )

  it('are exported at each interval', async () => {
    const key = cluster.apply('Connector', 'orders', { ...datagen, offsets: EXPORT })
    const { settle, reconcile } = operator()
    await settle(key)
    expect(saved()).toEqual({ offsets: [] })
    worker.connectors.get('orders')!.offsets = OFFSETS
    await clock.advance(3_595_000)
    const requeue = await reconcile(key)
    expect(saved()).toEqual({ offsets: [] })
    await clock.advance((requeue as { afterMs: number }).afterMs)
    await settle(key)
    expect(saved()).toEqual({ offsets: OFFSETS })
    expect(cluster.events.filter(({ reason }) => reason === 'OffsetsExported').map(({ note }) => note)).toEqual([
      'exported 0 offsets to ConfigMap saved',
      'exported 1 offsets to ConfigMap saved',
    ])
  })

  it('are exported once for each value of the annotation', async () => {
    const spec = { ...datagen, offsets: { export: { configMapRef: { name: 'saved' } } } }
    const key = cluster.apply('Connector', 'orders', spec)
    const { settle } = operator()
    await settle(key)
    expect(saved()).toBe(null)
    cluster.apply('Connector', 'orders', spec, { 'weir.dev/offsets-export-requested-at': '1' })
    await settle(key)
    await settle(key)
    expect(saved()).toEqual({ offsets: [] })
    expect(cluster.events.filter(({ reason }) => reason === 'OffsetsExported')).toHaveLength(1)
    expect(cluster.get(key)?.status.lastHandledOffsetsExport).toBe('1')
  })

  it('are exported without indentation if they are many, and never in part', { tags: ['slow'] }, async () => {
    const spec = { ...datagen, offsets: { export: { configMapRef: { name: 'saved' } } } }
    const key = cluster.apply('Connector', 'orders', spec)
    const { settle, readiness, condition } = operator()
    await settle(key)
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ partition: { file: `orders-${at}` }, offset: { position: at } }))
    const exportNow = async (count: number, token: string) => {
      worker.connectors.get('orders')!.offsets = many(count)
      cluster.apply('Connector', 'orders', spec, { 'weir.dev/offsets-export-requested-at': token })
      await settle(key)
    }
    await exportNow(15_000, '1')
    expect(saved()).toEqual({ offsets: many(15_000) })
    await exportNow(20_000, '2')
    expect(saved()).toEqual({ offsets: many(15_000) })
    expect(readiness(key)).toBe('Stalled/OffsetsRejected')
    expect(condition(key, 'Ready')?.message).toMatch(
      /^the 20000 offsets of connector orders have \d+ bytes, and a ConfigMap holds at most 1048576: ConfigMap saved is left as it was/,
    )
  })

  it('are not written to a ConfigMap that another field manager owns', async () => {
    cluster.foreignConfigMaps.add('default/saved')
    const key = cluster.apply('Connector', 'orders', { ...datagen, offsets: EXPORT })
    const { settle, readiness, condition } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Stalled/Conflict')
    expect(condition(key, 'Ready')?.message).toBe(
      'offsets.json of ConfigMap saved is owned by another field manager: use another ConfigMap',
    )
  })

  it('can be restored from an export, with integers of 64 bits', async () => {
    const OFFSETS = [{ partition: { server: 'a' }, offset: { lsn: 9007199254740993n } }]
    const key = cluster.apply('Connector', 'orders', { ...datagen, offsets: EXPORT })
    const { settle } = operator()
    await settle(key)
    worker.connectors.get('orders')!.offsets = OFFSETS
    await clock.advance(3_600_000)
    await settle(key)
    worker.connectors.delete('orders')
    cluster.apply('Connector', 'orders', { ...datagen, offsets: { ...EXPORT, ...from() } })
    await settle(key)
    expect(worker.connectors.get('orders')).toMatchObject({ offsets: OFFSETS, state: 'RUNNING' })
  })
})
