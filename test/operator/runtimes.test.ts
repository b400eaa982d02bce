import { beforeEach, describe, expect, it } from 'vitest'
import { RequestError } from '../../src/clients/http.ts'
import { createLogger, silentLogger } from '../../src/config/logger.ts'
import { ConfigurationWatch } from '../../src/operator/configuration-watch.ts'
import { createConnectorReconciler } from '../../src/operator/connector/connector-reconciler.ts'
import { UNFENCED } from '../../src/operator/controller/fence.ts'
import { TerminalError } from '../../src/operator/controller/reconcile-error.ts'
import { ReconcileLoop } from '../../src/operator/controller/reconcile-loop.ts'
import { externalObjectIndexFor } from '../../src/operator/resources/index-values.ts'
import type { Resource } from '../../src/operator/resources/resource.ts'
import {
  createRuntimes,
  RUNTIME_DEFAULTS,
  type RuntimesConfig,
  runtimesConfigFor,
} from '../../src/operator/runtimes.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { createReconcilerFixture } from '../support/reconciler-fixture.ts'

const runtimeConfig = { ...RUNTIME_DEFAULTS, name: 'default', endpoint: { url: 'http://w' } }

describe('the runtimes that a resource may name', () => {
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
      (_, { endpoint }) => endpoint,
    )
    try {
      return runtimes.worker(connector(workerRef)).runtimeConfig.name
    } catch (error) {
      return [(error as { reason: string }).reason, (error as Error).message]
    }
  }

  it.each([
    ['granted to all', [runtimeConfig], 'default'],
    ['granted to its namespace', [{ ...runtimeConfig, namespaces: ['other', 'default'] }], 'default'],
    [
      'granted to others',
      [{ ...runtimeConfig, namespaces: ['other'] }],
      ['NotAllowed', 'worker default is not granted to namespace default'],
    ],
    [
      'granted to the operator’s own',
      [{ ...runtimeConfig, namespaces: 'Same' as const }],
      ['NotAllowed', 'worker default is not granted to namespace default'],
    ],
    ['not there', [], ['UnknownCluster', "the operator's configuration has no worker default"]],
    [
      'wrong in the configuration',
      [{ name: 'default', error: 'url is missing' }],
      ['ClusterConfigInvalid', 'worker default: url is missing'],
    ],
  ])('are told from those that are %s', (_, runtimesConfig, said) => {
    expect(reasonOf(runtimesConfig)).toEqual(said)
  })

  describe('and are granted by labels of namespaces', () => {
    const namespaces = { matchLabels: { team: 'shop' }, matchExpressions: [] }
    const notGranted = ['NotAllowed', 'worker default is not granted to namespace default']
    const become = (labels: Readonly<Record<string, string>>) =>
      cluster.namespaces?.set('default', { labels, isTerminating: false })

    it('are told by what those are now', async () => {
      await cluster.watchNamespaces()
      expect(reasonOf([{ ...runtimeConfig, namespaces }])).toEqual(notGranted)
      become({ team: 'shop', stage: 'prod' })
      expect(reasonOf([{ ...runtimeConfig, namespaces }])).toBe('default')
      become({ team: 'orders' })
      expect(reasonOf([{ ...runtimeConfig, namespaces }])).toEqual(notGranted)
    })

    it('are not granted to a namespace that is not known, whatever it is to be without', async () => {
      await cluster.watchNamespaces()
      const without = {
        matchLabels: {},
        matchExpressions: [{ key: 'team', operator: 'DoesNotExist' as const }],
      }
      expect(reasonOf([{ ...runtimeConfig, namespaces: without }])).toEqual(notGranted)
      become({})
      expect(reasonOf([{ ...runtimeConfig, namespaces: without }])).toBe('default')
    })

    it('can not be told where no labels are known: the entry is at fault, and nothing is revoked', () => {
      expect(reasonOf([{ ...runtimeConfig, namespaces }])).toEqual([
        'ClusterConfigInvalid',
        expect.stringContaining('namespaces of a folder of manifests have none'),
      ])
    })
  })

  it('are those of its own namespace where the operator lives there', () => {
    expect(reasonOf([{ ...runtimeConfig, namespaces: 'Same' }], 'default', 'default')).toBe('default')
  })
})

describe('what an entry says', () => {
  let fixture = createReconcilerFixture()
  const datagen = { class: 'Datagen', config: { topic: 'orders' } }

  beforeEach(() => {
    fixture = createReconcilerFixture()
  })

  it('keeps resources from connectors with protected names', async () => {
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

  it('is the text that stands for a secret, and the selector for autoscalers', async () => {
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

  it('is how the subjects of a namespace begin', async () => {
    fixture.runtimeConfigs.registry = { ...runtimeConfig, subjectPrefixes: { default: ['shop-', 'orders-'] } }
    const { settle, readiness, condition } = fixture.subjects()
    const [bad, good] = ['user', 'shop-user'].map((name) => fixture.cluster.apply('Subject', name, { schema: '"int"' }))
    for (const key of [bad!, good!]) await settle(key)
    expect([readiness(bad!), readiness(good!)]).toEqual(['Stalled/NotAllowed', 'Ready=True/Succeeded'])
    expect(condition(bad!, 'Ready')?.message).toContain('begin with shop- or orders-')
    expect(fixture.registry.writes).toEqual(['register shop-user'])
  })
})

describe('a deletion', () => {
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

  it('waits for a worker that does not answer', async () => {
    const { key, reconcile } = await deleted()
    await fixture.clock.advance(86_400_000)
    expect(await reconcile(key)).toBe('rate-limited')
    expect(fixture.cluster.get(key)).toBeDefined()
  })

  it('gives up after the time that the entry allows, and says what is left behind', async () => {
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

  it('gives up sooner in a namespace that is being deleted', async () => {
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

  it('waits out its time in a namespace that is being deleted, and for ever where the entry lets nothing behind', async () => {
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

  it('gives up at once when somebody forces it', async () => {
    const { key, reconcile } = await deleted({ 'weir.dev/force-delete': 'true' })
    await reconcile(key)
    expect(fixture.cluster.get(key)).toBeUndefined()
  })

  it('says in the log what is left behind: a namespace that is being deleted takes no Event', async () => {
    const { key } = await deleted({ 'weir.dev/force-delete': 'true' })
    const lines: string[] = []
    const { cluster, clock, runtimes } = fixture
    const reconciler = createConnectorReconciler({ cluster, clock, runtimes, instance: 'test' })
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

  it.each(['UnknownCluster', 'NotAllowed'] as const)('gives up when its worker is %s by now', async (reason) => {
    const { key, reconcile } = await deleted()
    fixture.runtimes.worker = () => {
      throw new TerminalError(reason, 'not ours')
    }
    await reconcile(key)
    expect(fixture.cluster.get(key)).toBeUndefined()
    expect(fixture.worker.connectors.has('a')).toBe(true)
  })

  it('gives up what was never applied when its worker has an entry that can not be used', async () => {
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

describe('the watch over the configuration', () => {
  it('tells what has changed, and keeps what it knew while it can not be read', async () => {
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
