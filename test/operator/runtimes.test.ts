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
import { createStage } from '../support/stage.ts'

const runtimeConfig = { ...RUNTIME_DEFAULTS, name: 'default', endpoint: { url: 'http://w' } }

describe('the runtimes that a resource may name', () => {
  let { cluster } = createStage()
  beforeEach(() => {
    cluster = createStage().cluster
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
  let stage = createStage()
  const datagen = { class: 'Datagen', config: { topic: 'orders' } }

  beforeEach(() => {
    stage = createStage()
  })

  it('keeps resources from connectors with protected names', async () => {
    stage.place.worker = { ...runtimeConfig, protectedNames: ['mirror-*', 'x.y'] }
    const { settle, readiness } = stage.connectors()
    for (const [name, wanted] of [
      ['mirror-a', 'Stalled/ProtectedName'],
      ['x.y', 'Stalled/ProtectedName'],
      ['xzy', 'Ready=True/Succeeded'],
      ['a-mirror-', 'Ready=True/Succeeded'],
    ] as const) {
      const key = stage.cluster.apply('Connector', name.replace('.', '-').replace(/-$/, ''), { ...datagen, name })
      await settle(key)
      expect(readiness(key), name).toBe(wanted)
    }
  })

  it('is the text that stands for a secret, and the selector for autoscalers', async () => {
    stage.place.worker = { ...runtimeConfig, secretPlaceholder: '%{namespace}:{name}#{key}', podSelector: 'app=worker' }
    const valuesFrom = [{ key: 'password', secretKeyRef: { name: 's3', key: 'secret' } }]
    const key = stage.cluster.apply('Connector', 'a', { ...datagen, valuesFrom })
    await stage.connectors().settle(key)
    expect(stage.worker.connectors.get('a')?.config).toMatchObject({ password: '%default:s3#secret' })
    expect(stage.cluster.get(key)?.status.selector).toBe('app=worker')
  })

  it('is how the subjects of a namespace begin', async () => {
    stage.place.registry = { ...runtimeConfig, subjectPrefixes: { default: ['shop-', 'orders-'] } }
    const { settle, readiness, condition } = stage.subjects()
    const [bad, good] = ['user', 'shop-user'].map((name) => stage.cluster.apply('Subject', name, { schema: '"int"' }))
    for (const key of [bad!, good!]) await settle(key)
    expect([readiness(bad!), readiness(good!)]).toEqual(['Stalled/NotAllowed', 'Ready=True/Succeeded'])
    expect(condition(bad!, 'Ready')?.message).toContain('begin with shop- or orders-')
    expect(stage.registry.writes).toEqual(['register shop-user'])
  })
})

describe('a deletion', () => {
  let stage = createStage()
  const away = new RequestError(0, 0, 'ECONNREFUSED')

  async function deleted(annotations = {}) {
    const key = stage.cluster.apply('Connector', 'a', { class: 'Datagen', config: {} }, annotations)
    const operator = stage.connectors()
    await operator.settle(key)
    stage.cluster.remove(key)
    stage.worker.failure = away
    const since = Date.parse(stage.cluster.get(key)!.metadata.deletionTimestamp!)
    await stage.clock.advance(Math.max(0, since - stage.clock.nowMs()))
    return { key, ...operator }
  }

  beforeEach(() => {
    stage = createStage()
  })

  it('waits for a worker that does not answer', async () => {
    const { key, reconcile } = await deleted()
    await stage.clock.advance(86_400_000)
    expect(await reconcile(key)).toBe('rate-limited')
    expect(stage.cluster.get(key)).toBeDefined()
  })

  it('gives up after the time that the entry allows, and says what is left behind', async () => {
    stage.place.worker = { ...runtimeConfig, deletionTimeoutMs: 3_600_000 }
    const { key, reconcile } = await deleted()
    await stage.clock.advance(3_500_000)
    await reconcile(key)
    expect(stage.cluster.get(key)).toBeDefined()
    await stage.clock.advance(200_000)
    await reconcile(key)
    expect(stage.cluster.get(key)).toBeUndefined()
    expect(stage.cluster.events.at(-1)).toEqual({
      type: 'Warning',
      reason: 'Abandoned',
      note: 'the deletion was abandoned, and the external object is left in place: ECONNREFUSED',
    })
  })

  it('gives up sooner in a namespace that is being deleted', async () => {
    stage.place.worker = { ...runtimeConfig, deletionTimeoutMs: 3_600_000, terminatingDeletionTimeoutMs: 600_000 }
    const { key, reconcile } = await deleted()
    const go = (isTerminating: boolean) => {
      stage.cluster.namespaces = new Map([['default', { labels: {}, isTerminating }]])
    }
    go(false)
    await stage.clock.advance(599_000)
    await reconcile(key)
    await stage.clock.advance(2_000)
    await reconcile(key)
    expect(stage.cluster.get(key)).toBeDefined()
    go(true)
    await reconcile(key)
    expect(stage.cluster.get(key)).toBeUndefined()
    expect(stage.cluster.events.at(-1)).toMatchObject({ reason: 'Abandoned' })
    expect(stage.worker.connectors.has('a')).toBe(true)
  })

  it('waits out its time in a namespace that is being deleted, and for ever where the entry lets nothing behind', async () => {
    stage.place.worker = { ...runtimeConfig, deletionTimeoutMs: 3_600_000, terminatingDeletionTimeoutMs: 600_000 }
    const { key, reconcile } = await deleted()
    stage.cluster.namespaces = new Map([['default', { labels: {}, isTerminating: true }]])
    await stage.clock.advance(599_000)
    await reconcile(key)
    expect(stage.cluster.get(key)).toBeDefined()
    stage.place.worker = runtimeConfig
    await stage.clock.advance(86_400_000)
    await reconcile(key)
    expect(stage.cluster.get(key)).toBeDefined()
  })

  it('gives up at once when somebody forces it', async () => {
    const { key, reconcile } = await deleted({ 'weir.dev/force-delete': 'true' })
    await reconcile(key)
    expect(stage.cluster.get(key)).toBeUndefined()
  })

  it('says in the log what is left behind: a namespace that is being deleted takes no Event', async () => {
    const { key } = await deleted({ 'weir.dev/force-delete': 'true' })
    const lines: string[] = []
    const { cluster, clock, runtimes } = stage
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
    stage.runtimes.worker = () => {
      throw new TerminalError(reason, 'not ours')
    }
    await reconcile(key)
    expect(stage.cluster.get(key)).toBeUndefined()
    expect(stage.worker.connectors.has('a')).toBe(true)
  })

  it('gives up what was never applied when its worker has an entry that can not be used', async () => {
    const invalid = () => {
      throw new TerminalError('ClusterConfigInvalid', 'worker default: url is missing')
    }
    const { key, reconcile } = await deleted()
    stage.runtimes.worker = invalid
    await reconcile(key)
    expect(stage.cluster.get(key)).toBeDefined()
    const fresh = createStage()
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
