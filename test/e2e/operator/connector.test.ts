import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { type OperatorEnvironment, startOperatorEnvironment } from '../../support/operator-environment.ts'
import { WAIT } from '../../support/test-namespace.ts'
import { until } from '../../support/until.ts'

// Each row of the table of Connector cases, on a real API server and a real worker.

const kubernetes = await real('kubernetes')

const LINES = { class: 'FileStreamSource', config: { file: 'no-such-file', topic: 'lines' } }
/** Members in the order of their names. */
const sorted = (_: string, value: unknown) =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
type Spec = { readonly [key: string]: unknown }

describeOn([kubernetes], 'a Connector on a real API server', () => {
  let env: OperatorEnvironment
  let count = 0

  beforeAll(async () => {
    env = await startOperatorEnvironment(kubernetes.address)
    return () => env.stop()
  })

  /** A connector for one test, with its operations and queries. */
  function connector() {
    count += 1
    const name = `c-${count}`
    const { worker } = env
    const ready = (wanted: string) => env.condition('connectors', name, 'Ready', wanted)
    const stalled = (reason: string) => env.condition('connectors', name, 'Stalled', `True/${reason}`)
    const state = async () => (await worker.status(name)).connector.state
    return {
      name,
      ready,
      stalled,
      apply: (spec: Spec = {}, annotations = {}) => env.apply('Connector', name, { ...LINES, ...spec }, annotations),
      status: async () => (await env.object('connectors', name)).status as Record<string, unknown> | undefined,
      message: async () => {
        const { status } = await env.object('connectors', name)
        return status?.conditions.find(({ type }) => type === 'Ready')?.message
      },
      is: (wanted: string) => until(`${name} to be ${wanted}`, WAIT, async () => (await state()) === wanted),
      absent: async () => !Object.hasOwn(await worker.list(), name),
      config: async () => (await worker.get(name)).config,
    }
  }

  it('gets a finalizer before the connector is created', async () => {
    const { name, apply, ready } = connector()
    await apply({ subjectRefs: [{ name: 'never' }] })
    await ready('False/WaitingForSubject')
    expect((await env.object('connectors', name)).metadata.finalizers).toEqual(['weir.dev/connector'])
  })

  it.each([
    ['none', 'UnknownCluster'],
    ['foreign', 'NotAllowed'],
    ['broken', 'ClusterConfigInvalid'],
  ])('with the worker %s reports %s', async (name, reason) => {
    const { apply, stalled } = connector()
    await apply({ workerRef: { name } })
    await stalled(reason)
  })

  it('reports Conflict while another Connector owns the connector', async () => {
    const [winner, loser] = [connector(), connector()]
    await winner.apply()
    await winner.ready('True/Succeeded')
    await loser.apply({ name: winner.name })
    await loser.stalled('Conflict')
    await env.remove('connectors', winner.name)
    await loser.ready('True/Succeeded')
    expect((await env.worker.get(winner.name)).config['weir.owner']).toBe(`weir/${env.namespace}/${loser.name}`)
  })

  it('reports ProtectedName for a protected name', async () => {
    const { apply, stalled } = connector()
    await apply({ name: 'mirror-heartbeat' })
    await stalled('ProtectedName')
  })

  it('waits for missing inputs before the connector is created', async () => {
    const { name, apply, ready, config, absent } = connector()
    await apply({ configFrom: [{ configMapRef: { name } }] })
    await ready('False/WaitingForInput')
    expect(await absent()).toBe(true)
    const configMaps = `/api/v1/namespaces/${env.namespace}/configmaps`
    await env.api.send('POST', configMaps, { metadata: { name }, data: { 'batch.size': '7' } })
    await ready('True/Succeeded')
    expect(await config()).toMatchObject({ 'batch.size': '7' })
  })

  it('waits for its Subjects before the connector is created', async () => {
    const { name, apply, ready, absent } = connector()
    await apply({ subjectRefs: [{ name }] })
    await ready('False/WaitingForSubject')
    expect(await absent()).toBe(true)
    await env.apply('Subject', name, { schema: '"int"' })
    await ready('True/Succeeded')
  })

  it('creates the connector with the ownership marker', async () => {
    const { name, apply, ready, config } = connector()
    await apply({ tasksMax: 1 })
    await ready('True/Succeeded')
    expect(await config()).toEqual({
      ...LINES.config,
      name,
      'connector.class': 'FileStreamSource',
      'tasks.max': '1',
      'weir.owner': `weir/${env.namespace}/${name}`,
    })
  })

  it('reports ConfigInvalid with the key of an invalid configuration', async () => {
    const { apply, stalled, message, absent } = connector()
    await apply({ config: { file: 'x' } })
    await stalled('ConfigInvalid')
    expect(await message()).toContain('topic')
    expect(await absent()).toBe(true)
  })

  it('reports PluginNotFound for an unknown class', async () => {
    const { apply, stalled } = connector()
    await apply({ class: 'com.example.Nothing' })
    await stalled('PluginNotFound')
  })

  it('writes nothing while the connector is as declared', async () => {
    const { name, apply, ready } = connector()
    await apply()
    await ready('True/Succeeded')
    const { resourceVersion } = (await env.object('connectors', name)).metadata
    // Other connectors are reconciled too, and this one is reconciled every second.
    const other = connector()
    await other.apply()
    await other.ready('True/Succeeded')
    expect((await env.object('connectors', name)).metadata.resourceVersion).toBe(resourceVersion)
  })

  it('applies a configuration change', async () => {
    const { apply, ready, config } = connector()
    await apply()
    await ready('True/Succeeded')
    await apply({ config: { ...LINES.config, 'batch.size': '9' } })
    await until('the change', WAIT, async () => (await config())['batch.size'] === '9')
    await ready('True/Succeeded')
  })

  it('corrects a configuration that another client changed', async () => {
    const { name, apply, ready, config } = connector()
    await apply()
    await ready('True/Succeeded')
    await env.worker.putConfig(name, { ...(await config()), topic: 'elsewhere' })
    await until('the correction', WAIT, async () => (await config())['topic'] === 'lines')
    await env.event(name, 'DriftCorrected')
  })

  it('reports DriftFight and stops correcting when another client keeps changing the configuration', async () => {
    const { name, apply, ready, config } = connector()
    await apply()
    await ready('True/Succeeded')
    const declared = await config()
    for (let time = 0; time < 3; time++) {
      await env.worker.putConfig(name, { ...declared, topic: 'elsewhere' })
      await until(`correction ${time + 1}`, WAIT, async () => (await config())['topic'] === 'lines')
    }
    await env.worker.putConfig(name, { ...declared, topic: 'elsewhere' })
    await env.condition('connectors', name, 'Synced', 'False/DriftFight')
    expect(await config()).toMatchObject({ topic: 'elsewhere' })
  })

  it('reports drift without correcting it with driftPolicy Report', async () => {
    const { name, apply, ready, config } = connector()
    await apply({ driftPolicy: 'Report' })
    await ready('True/Succeeded')
    await env.worker.putConfig(name, { ...(await config()), topic: 'elsewhere' })
    await env.condition('connectors', name, 'Synced', 'False/Drifted')
    expect(await config()).toMatchObject({ topic: 'elsewhere' })
    await env.worker.delete(name)
    await env.condition('connectors', name, 'Stalled', 'True/Missing')
  })

  it.each([
    ['PAUSED', 'pause'],
    ['STOPPED', 'stop'],
  ] as const)('resumes a connector that is %s when Running is declared', async (_, how) => {
    const { name, apply, ready, is } = connector()
    await apply()
    await ready('True/Succeeded')
    await env.worker[how](name)
    await env.event(name, 'StateChanged')
    await is('RUNNING')
    await ready('True/Succeeded')
  })

  it('pauses a running connector when Paused is declared', async () => {
    const { apply, ready, is } = connector()
    await apply()
    await ready('True/Succeeded')
    await apply({ state: 'Paused' })
    await is('PAUSED')
    await ready('True/Succeeded')
  })

  /** A sink that fails on a record while its folder is missing. */
  const sink = (name: string) => ({
    class: 'FileStreamSink',
    config: { topics: name, file: join(env.files, name, 'out.txt') },
  })

  it.each([
    ['RUNNING', 'Ready', 'True/Succeeded', () => ({})],
    ['PAUSED', 'Ready', 'True/Succeeded', () => ({ state: 'Paused' })],
    ['FAILED', 'Stalled', 'True/TaskFailed', (name: string) => ({ ...sink(name), autoRestart: { enabled: false } })],
  ] as const)('stops a connector that is %s when Stopped is declared', async (_, type, before, specOf) => {
    const { name, apply, ready, is } = connector()
    const spec = specOf(name)
    await apply(spec)
    await env.condition('connectors', name, type, before)
    await apply({ ...spec, state: 'Stopped' })
    await is('STOPPED')
    await ready('True/Succeeded')
    expect((await env.worker.status(name)).tasks).toEqual([])
  })

  it('reports when a failed task is restarted, and restarts it then', async () => {
    const { name, apply, ready, message, status } = connector()
    await apply({ ...sink(name), autoRestart: { initialBackoff: '4s' } })
    await ready('False/TaskFailed')
    expect(await message()).toMatch(/restart 1 at \d\d:\d\d:\d\d UTC/)
    mkdirSync(join(env.files, name))
    await ready('True/Succeeded')
    expect(await status()).toMatchObject({ autoRestart: { count: expect.any(Number) } })
    await env.event(name, 'AutoRestarted')
  })

  it('reports AutoRestartExhausted after maxRestarts', async () => {
    const { name, apply, stalled } = connector()
    await apply({ ...sink(name), autoRestart: { initialBackoff: '1s', maxRestarts: 1 } })
    await stalled('AutoRestartExhausted')
  })

  it('reports TaskFailed while automatic restarts are disabled', async () => {
    const { name, apply, stalled } = connector()
    await apply({ ...sink(name), autoRestart: { enabled: false } })
    await stalled('TaskFailed')
  })

  it.each([
    ['UNASSIGNED', 'unassigned', '"total":1,"unassigned":1'],
    ['409 rebalance', 'conflict', ''],
  ] as const)(
    'stays Ready for healthGrace while the worker reports %s, then reports Rebalancing',
    async (_, how, shown) => {
      const { name, apply, ready } = connector()
      await apply({ workerRef: { name: 'shaky' } })
      await ready('True/Succeeded')
      const asked = new Date().toISOString()
      env.rebalancing.set(name, how)
      await apply({ workerRef: { name: 'shaky' } }, { 'weir.dev/reconcile-requested-at': asked })
      const seen = new Set<string>()
      await until('the grace to be over', WAIT, async () => {
        const { status } = await env.object('connectors', name)
        const { status: is, reason } = status?.conditions.find(({ type }) => type === 'Ready') ?? {}
        seen.add(`${is}/${reason}`)
        return is === 'Unknown'
      })
      expect([...seen]).toEqual(['True/Succeeded', 'Unknown/Rebalancing'])
      expect(JSON.stringify((await env.object('connectors', name)).status, sorted)).toContain(shown)
      env.rebalancing.delete(name)
      await ready('True/Succeeded')
    },
  )

  it('reports Unauthorized when the worker responds 401', async () => {
    const { apply, stalled } = connector()
    await apply({ workerRef: { name: 'closed' } })
    await stalled('Unauthorized')
  })

  it('reports WorkerUnreachable after a connection error', async () => {
    const { name, apply, ready } = connector()
    await apply({ workerRef: { name: 'away' } })
    await ready('Unknown/WorkerUnreachable')
    const { status } = await env.object('connectors', name)
    expect(status?.conditions.map(({ type }) => type)).not.toContain('Reconciling')
  })

  it('executes a new offsets operation once, while the connector is stopped', async () => {
    const { name, apply, ready, status } = connector()
    await apply()
    await ready('True/Succeeded')
    const offsets = [{ partition: { filename: 'no-such-file' }, offset: { position: 42 } }]
    await apply({ offsets: { operation: { id: 'rewind', type: 'Alter', offsets } } })
    await until('the operation', WAIT, async () => (await status())?.['offsets'] !== undefined)
    await ready('True/Succeeded')
    expect(await env.worker.offsets(name)).toEqual(offsets)
    expect(await status()).toMatchObject({
      offsets: { lastOperationId: 'rewind', lastOperationResult: 'Succeeded' },
      state: 'RUNNING',
    })
  })

  it('restarts the connector once for a new value of the annotation', async () => {
    const { name, apply, ready, status } = connector()
    await apply()
    await ready('True/Succeeded')
    await apply({}, { 'weir.dev/restart-requested-at': '2026-11-20T10:00:00Z' })
    await until('the token', WAIT, async () => (await status())?.['lastHandledRestart'] === '2026-11-20T10:00:00Z')
    await ready('True/Succeeded')
    await env.event(name, 'RestartRequested')
  })

  it('restarts the connector once when a Secret of valuesFrom changes', async () => {
    const { name, apply, ready, config } = connector()
    const path = `/api/v1/namespaces/${env.namespace}/secrets`
    await env.api.send('POST', path, { metadata: { name }, data: { secret: 'YQ==' } })
    const valuesFrom = [{ key: 'file', secretKeyRef: { name, key: 'secret' } }]
    await apply({ config: { topic: 'lines' }, valuesFrom })
    await ready('True/Succeeded')
    expect(await config()).toMatchObject({ file: `\${secret:${env.namespace}/${name}:secret}` })
    const { inputsHash } = (await env.object('connectors', name)).status as { inputsHash?: string }
    expect(inputsHash).toMatch(/^[0-9a-f]{64}$/)
    const change = { data: { secret: 'Yg==' } }
    await env.api.send('PATCH', `${path}/${name}`, change, 'application/merge-patch+json')
    await env.event(name, 'RestartRequested')
    await until('the new state to be remembered', WAIT, async () => {
      const { status } = await env.object('connectors', name)
      return (status as { inputsHash?: string } | undefined)?.inputsHash !== inputsHash
    })
    await ready('True/Succeeded')
  })

  it('observes the connector and writes nothing while it is suspended', async () => {
    const { name, apply, ready, is, config } = connector()
    await apply()
    await ready('True/Succeeded')
    await apply({ suspend: true, tasksMax: 2 })
    await env.condition('connectors', name, 'Suspended', 'True/Suspended')
    await env.worker.pause(name)
    await is('PAUSED')
    await until('the look', WAIT, async () => {
      const { status } = await env.object('connectors', name)
      return (status as { state?: string } | undefined)?.state === 'PAUSED'
    })
    expect(await config()).toMatchObject({ 'tasks.max': '1' })
  })

  it.each([
    ['Delete', true],
    ['DeleteWithOffsets', true],
    ['Retain', false],
  ])('follows deletionPolicy %s when it is deleted', async (deletionPolicy, goes) => {
    const { name, apply, ready, absent } = connector()
    await apply({ deletionPolicy })
    await ready('True/Succeeded')
    await env.remove('connectors', name)
    await until(
      'the deletion',
      WAIT,
      async () => (await env.object('connectors', name)).metadata.resourceVersion === undefined,
    )
    expect(await absent()).toBe(goes)
  })
})
