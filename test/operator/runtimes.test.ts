import { beforeEach, describe, expect, it } from 'vitest'
import { RequestError } from '../../src/clients/http-client.ts'
import { createLogger, silentLogger } from '../../src/common/logging/logger.ts'
import { ConfigurationWatch } from '../../src/operator/configuration-watch.ts'
import { ConnectorReconciler } from '../../src/operator/connector/connector-reconciler.ts'
import { UNFENCED } from '../../src/operator/controller/leader-fence.ts'
import { TerminalError } from '../../src/operator/controller/reconcile-error.ts'
import { ReconcileLoop } from '../../src/operator/controller/reconcile-loop.ts'
import { externalObjectIndexFor } from '../../src/operator/resources/index-values.ts'
import type { Resource } from '../../src/operator/resources/resource.ts'
import { createResponseBudget } from '../../src/operator/runtime-connections.ts'
import {
  createRuntimes,
  RUNTIME_DEFAULTS,
  type RuntimesConfig,
  runtimesConfigFor,
} from '../../src/operator/runtimes.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { createReconcilerFixture } from '../support/reconciler-fixture.ts'

const runtimeConfig = { ...RUNTIME_DEFAULTS, name: 'default', endpoint: { url: 'http://w' } }

describe('the runtimes that a resource may refer to', () => {
  let { cluster } = createReconcilerFixture()
  beforeEach(() => {
    cluster = createReconcilerFixture().cluster
  })
  const connector = (workerRef: string): Resource<'Connector'> =>
    cluster.get(cluster.apply('Connector', 'a', { class: 'Datagen', workerRef: { name: workerRef } }))!
  const reasonOf = (runtimesConfig: RuntimesConfig['workers'], workerRef = 'default', home = 'weir') => {
    const runtimes = createRuntimes(
      { workers: runtimesConfig, registries: [] },
      { operatorNamespace: home, cluster },
      (_, { endpoint }) => ({ ...endpoint, responseBudget: createResponseBudget() }),
    )
    try {
      return runtimes.worker(connector(workerRef)).runtimeConfig.name
    } catch (error) {
      return [(error as { reason: string }).reason, (error as Error).message]
    }
  }

  it.each([
    ['all namespaces are allowed', [runtimeConfig], 'default'],
    ['its namespace is listed', [{ ...runtimeConfig, namespaces: ['other', 'default'] }], 'default'],
    [
      'only other namespaces are listed',
      [{ ...runtimeConfig, namespaces: ['other'] }],
      ['NotAllowed', 'worker default does not allow namespace default: see allowedNamespaces of its configuration'],
    ],
    [
      'only the namespace of the operator is allowed',
      [{ ...runtimeConfig, namespaces: 'Same' as const }],
      ['NotAllowed', 'worker default does not allow namespace default: see allowedNamespaces of its configuration'],
    ],
    ['unknown runtime', [], ['UnknownCluster', "the operator's configuration has no worker default"]],
    [
      'invalid configuration',
      [{ name: 'default', error: 'url is missing' }],
      ['ClusterConfigInvalid', 'worker default: url is missing'],
    ],
  ])('are found or rejected: %s', (_, runtimesConfig, said) => {
    expect(reasonOf(runtimesConfig)).toEqual(said)
  })

  describe('with a namespace selector', () => {
    const namespaces = { matchLabels: { team: 'shop' }, matchExpressions: [] }
    const notGranted = [
      'NotAllowed',
      'worker default does not allow namespace default: see allowedNamespaces of its configuration',
    ]
    const become = (labels: Readonly<Record<string, string>>) =>
      cluster.namespaces?.set('default', { labels, isTerminating: false })

    it('are allowed by the current labels of the namespace', async () => {
      await cluster.watchNamespaces()
      expect(reasonOf([{ ...runtimeConfig, namespaces }])).toEqual(notGranted)
      become({ team: 'shop', stage: 'prod' })
      expect(reasonOf([{ ...runtimeConfig, namespaces }])).toBe('default')
      become({ team: 'orders' })
      expect(reasonOf([{ ...runtimeConfig, namespaces }])).toEqual(notGranted)
    })

    it('are not allowed for an unknown namespace, even if the selector matches namespaces without the label', async () => {
      await cluster.watchNamespaces()
      const without = {
        matchLabels: {},
        matchExpressions: [{ key: 'team', operator: 'DoesNotExist' as const }],
      }
      expect(reasonOf([{ ...runtimeConfig, namespaces: without }])).toEqual(notGranted)
      become({})
      expect(reasonOf([{ ...runtimeConfig, namespaces: without }])).toBe('default')
    })

    it('are an invalid configuration if labels are unknown, which revokes no access', () => {
      expect(reasonOf([{ ...runtimeConfig, namespaces }])).toEqual([
        'ClusterConfigInvalid',
        expect.stringContaining('namespaces of a directory of manifests have none'),
      ])
    })
  })

  it('include those of the namespace of the operator with from: Same', () => {
    expect(reasonOf([{ ...runtimeConfig, namespaces: 'Same' }], 'default', 'default')).toBe('default')
  })
})

describe('the configuration of a runtime', () => {
  let fixture = createReconcilerFixture()
  const datagen = { class: 'Datagen', config: { topic: 'orders' } }

  beforeEach(() => {
    fixture = createReconcilerFixture()
  })

  it('protects connectors with protectedNames', async () => {
    fixture.runtimeConfigs.worker = { ...runtimeConfig, protectedNames: ['mirror-*', 'x.y'] }
    const { settle, readiness } = fixture.connectors()
    for (const [name, wanted] of [
      ['mirror-a', 'Stalled/ProtectedName'],
      ['x.y', 'Stalled/ProtectedName'],
      ['xzy', 'Ready=True/Succeeded'],
      ['a-mirror-', 'Ready=True/Succeeded'],
    ] as const) {
      const key = fixture.cluster.apply('Connector', name.replace('.', '-').replace(/-$/, ''), { ...datagen, name })
      await settle(key)
      expect(readiness(key), name).toBe(wanted)
    }
  })

  it('sets the placeholder of secrets and the pod selector for autoscalers', async () => {
    fixture.runtimeConfigs.worker = {
      ...runtimeConfig,
      secretPlaceholder: '%{namespace}:{name}#{key}',
      podSelector: 'app=worker',
    }
    const valuesFrom = [{ key: 'password', secretKeyRef: { name: 's3', key: 'secret' } }]
    const key = fixture.cluster.apply('Connector', 'a', { ...datagen, valuesFrom })
    await fixture.connectors().settle(key)
    expect(fixture.worker.connectors.get('a')?.config).toMatchObject({ password: '%default:s3#secret' })
    expect(fixture.cluster.get(key)?.status.selector).toBe('app=worker')
  })

  it('restricts a namespace to subjects with its prefixes', async () => {
    fixture.runtimeConfigs.registry = { ...runtimeConfig, subjectPrefixes: { default: ['shop-', 'orders-'] } }
    const { settle, readiness, condition } = fixture.subjects()
    const [bad, good] = ['user', 'shop-user'].map((name) => fixture.cluster.apply('Subject', name, { schema: '"int"' }))
    for (const key of [bad!, good!]) await settle(key)
    expect([readiness(bad!), readiness(good!)]).toEqual(['Stalled/NotAllowed', 'Ready=True/Succeeded'])
    expect(condition(bad!, 'Ready')?.message).toContain('begin with shop- or orders-')
    expect(fixture.registry.writes).toEqual(['register shop-user'])
  })
})

describe('the deletion of a resource', () => {
  let fixture = createReconcilerFixture()
  const away = new RequestError(0, 0, 'ECONNREFUSED')

  async function deleted(annotations = {}) {
    const key = fixture.cluster.apply('Connector', 'a', { class: 'Datagen', config: {} }, annotations)
    const operator = fixture.connectors()
    await operator.settle(key)
    fixture.cluster.remove(key)
    fixture.worker.failure = away
    const since = Date.parse(fixture.cluster.get(key)!.metadata.deletionTimestamp!)
    await fixture.clock.advance(Math.max(0, since - fixture.clock.nowMs()))
    return { key, ...operator }
  }

  beforeEach(() => {
    fixture = createReconcilerFixture()
  })

  it('waits for a worker that does not respond', async () => {
    const { key, reconcile } = await deleted()
    await fixture.clock.advance(86_400_000)
    expect(await reconcile(key)).toBe('rate-limited')
    expect(fixture.cluster.get(key)).toBeDefined()
  })

  it('is abandoned after abandonAfter, with an Event that names what is left in place', async () => {
    fixture.runtimeConfigs.worker = { ...runtimeConfig, deletionTimeoutMs: 3_600_000 }
    const { key, reconcile } = await deleted()
    await fixture.clock.advance(3_500_000)
    await reconcile(key)
    expect(fixture.cluster.get(key)).toBeDefined()
    await fixture.clock.advance(200_000)
    await reconcile(key)
    expect(fixture.cluster.get(key)).toBeUndefined()
    expect(fixture.cluster.events.at(-1)).toEqual({
      type: 'Warning',
      reason: 'Abandoned',
      note: 'the deletion was abandoned, and the external object is left in place: ECONNREFUSED',
    })
  })

  it('is abandoned sooner in a namespace that is being deleted', async () => {
    fixture.runtimeConfigs.worker = {
      ...runtimeConfig,
      deletionTimeoutMs: 3_600_000,
      terminatingDeletionTimeoutMs: 600_000,
    }
    const { key, reconcile } = await deleted()
    const go = (isTerminating: boolean) => {
      fixture.cluster.namespaces = new Map([['default', { labels: {}, isTerminating }]])
    }
    go(false)
    await fixture.clock.advance(599_000)
    await reconcile(key)
    await fixture.clock.advance(2_000)
    await reconcile(key)
    expect(fixture.cluster.get(key)).toBeDefined()
    go(true)
    await reconcile(key)
    expect(fixture.cluster.get(key)).toBeUndefined()
    expect(fixture.cluster.events.at(-1)).toMatchObject({ reason: 'Abandoned' })
    expect(fixture.worker.connectors.has('a')).toBe(true)
  })

  it('waits for ten minutes in a namespace that is being deleted, and forever with onUnreachableDelete: Block', async () => {
    fixture.runtimeConfigs.worker = {
      ...runtimeConfig,
      deletionTimeoutMs: 3_600_000,
      terminatingDeletionTimeoutMs: 600_000,
    }
    const { key, reconcile } = await deleted()
    fixture.cluster.namespaces = new Map([['default', { labels: {}, isTerminating: true }]])
    await fixture.clock.advance(599_000)
    await reconcile(key)
    expect(fixture.cluster.get(key)).toBeDefined()
    fixture.runtimeConfigs.worker = runtimeConfig
    await fixture.clock.advance(86_400_000)
    await reconcile(key)
    expect(fixture.cluster.get(key)).toBeDefined()
  })

  it('is abandoned at once with the annotation force-delete', async () => {
    const { key, reconcile } = await deleted({ 'weir.dev/force-delete': 'true' })
    await reconcile(key)
    expect(fixture.cluster.get(key)).toBeUndefined()
  })

  it('logs what is left in place, because a namespace that is being deleted accepts no Events', async () => {
    const { key } = await deleted({ 'weir.dev/force-delete': 'true' })
    const lines: string[] = []
    const { cluster, clock, runtimes } = fixture
    const reconciler = new ConnectorReconciler({ cluster, clock, runtimes, instance: 'test' })
    const logger = createLogger({ write: (line) => lines.push(line) })
    await new ReconcileLoop(reconciler, { cluster, clock, logger, fence: UNFENCED }).reconcile(key)
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        resource: 'Connector/default/a',
        left: externalObjectIndexFor('Connector', 'default', 'a'),
        msg: 'deletion abandoned: the external object is left in place',
      }),
    ])
  })

  it.each(['UnknownCluster', 'NotAllowed'] as const)(
    'is abandoned when access to its worker fails with %s',
    async (reason) => {
      const { key, reconcile } = await deleted()
      fixture.runtimes.worker = () => {
        throw new TerminalError(reason, 'not ours')
      }
      await reconcile(key)
      expect(fixture.cluster.get(key)).toBeUndefined()
      expect(fixture.worker.connectors.has('a')).toBe(true)
    },
  )

  it('is abandoned if nothing was applied and the configuration of its worker is invalid', async () => {
    const invalid = () => {
      throw new TerminalError('ClusterConfigInvalid', 'worker default: url is missing')
    }
    const { key, reconcile } = await deleted()
    fixture.runtimes.worker = invalid
    await reconcile(key)
    expect(fixture.cluster.get(key)).toBeDefined()
    const fresh = createReconcilerFixture()
    fresh.runtimes.worker = invalid
    const never = fresh.cluster.apply('Connector', 'never', { class: 'Datagen' })
    const operator = fresh.connectors()
    await operator.reconcile(never)
    fresh.cluster.remove(never)
    await operator.reconcile(never)
    expect(fresh.cluster.get(never)).toBeUndefined()
    expect(fresh.cluster.events.at(-1)).toMatchObject({ reason: 'Abandoned' })
  })
})

describe('ConfigurationWatch', () => {
  it('reports changes, and keeps the last valid configuration while the file cannot be read', async () => {
    const clock = new FakeClock()
    let runtimesConfig = runtimesConfigFor({ workerUrl: 'http://a' })
    let failure: Error | undefined
    const told: RuntimesConfig[] = []
    const looks: RuntimesConfig[] = []
    const read = () => {
      if (failure) throw failure
      return structuredClone(runtimesConfig)
    }
    const watch = new ConfigurationWatch({
      read,
      clock,
      logger: silentLogger(),
    })
    watch.start({ onChange: (changed) => told.push(changed), onPoll: (current) => looks.push(current) })
    await clock.advance(20_000)
    expect(told).toEqual([])
    runtimesConfig = runtimesConfigFor({ workerUrl: 'http://b' })
    await clock.advance(10_000)
    expect([told, watch.current]).toEqual([[runtimesConfig], runtimesConfig])
    failure = new Error('half written')
    await clock.advance(10_000)
    expect([watch.isValid, watch.current]).toEqual([false, runtimesConfig])
    failure = undefined
    await clock.advance(10_000)
    expect([watch.isValid, told.length]).toEqual([true, 1])
    expect(looks.map(({ workers }) => workers[0])).toEqual(
      ['a', 'a', 'b', 'b', 'b'].map((host) => expect.objectContaining({ endpoint: { url: `http://${host}` } })),
    )
    await watch.stop()
  })
})
