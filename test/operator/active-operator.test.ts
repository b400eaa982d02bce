import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createMetrics, type Metrics } from '../../src/common/metrics-registry.ts'
import { CompatibilityWorker } from '../../src/compatibility-worker/compatibility-worker.ts'
import { startActiveOperator } from '../../src/operator/active-operator.ts'
import { type Fence, NotLeaderError } from '../../src/operator/controller/leader-fence.ts'
import { type OperatorMetrics, registerOperatorMetrics } from '../../src/operator/operator-metrics.ts'
import type { ResourceKey } from '../../src/operator/resources/resource.ts'
import { type RuntimesConfig, runtimesConfigFor, type WorkerRuntimeConfig } from '../../src/operator/runtimes.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeCluster } from '../support/fake-cluster.ts'
import { until } from '../support/until.ts'

// How the leader calls the runtimes. The test decides when its registry responds.

let clock: FakeClock
let cluster: FakeCluster
let registry: Awaited<ReturnType<typeof registryOnCall>>
let mayAct: boolean
let asserted: number[]
let term: AbortController
let metrics: Metrics
let operatorMetrics: OperatorMetrics

beforeEach(async () => {
  clock = new FakeClock()
  cluster = new FakeCluster()
  registry = await registryOnCall()
  mayAct = true
  asserted = []
  term = new AbortController()
  metrics = createMetrics()
  operatorMetrics = registerOperatorMetrics(metrics)
})

/** A worker that closes all connections until it is available; it has no connectors. */
async function workerAway() {
  const asked: string[] = []
  const worker = { isAway: true }
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    if (worker.isAway) request.socket.destroy()
    else response.writeHead(404).end('{"error_code":404,"message":"not found"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(worker, { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

/** A registry with the subject `user`. It counts the lookups of a schema and the lists of all subjects. */
async function registryWithSubject() {
  const schema = { subject: 'user', version: 1, id: 1, schema: '"int"' }
  const registry = { lookups: 0, lists: 0 }
  const server = createServer((request, response) => {
    request.resume()
    const { method, url = '' } = request
    if (method === 'POST') registry.lookups += 1
    if (url.startsWith('/schemas')) registry.lists += 1
    if (method === 'POST') response.end(JSON.stringify(schema))
    else if (url.startsWith('/schemas')) response.end(JSON.stringify([schema]))
    else response.end(url.startsWith('/config') ? '{"compatibilityLevel":"BACKWARD"}' : '[1]')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(registry, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse }

/** A registry without subjects. It responds to reads; writes wait for the test, and reads too while it is silent. */
async function registryOnCall() {
  const writes: Exchange[] = []
  const registry = { isSilent: false, writes }
  const server = createServer((request, response) => {
    request.resume()
    const { method, url = '' } = request
    const isRead = method === 'GET' || /^\/subjects\/[^/]+\?/.test(url)
    if (!isRead || registry.isSilent) writes.push({ request, response })
    else if (url.startsWith('/config') && url.includes('defaultToGlobal=true')) {
      response.end('{"compatibilityLevel":"BACKWARD"}')
    } else response.writeHead(404).end('{"error_code":40401,"message":"Subject not found."}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(registry, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

function start(workerUrl = registry.url) {
  return startOn(runtimesConfigFor({ registryUrl: registry.url, workerUrl }))
}

const compatibilityWorker = new CompatibilityWorker()
afterAll(() => compatibilityWorker.close())

function startOn(runtimesConfig: RuntimesConfig) {
  const fence: Fence = {
    signal: term.signal,
    assertFor(ms) {
      asserted.push(ms)
      if (!mayAct) throw new NotLeaderError()
    },
    reportUnanswered: () => undefined,
  }
  const leader = startActiveOperator(
    {
      cluster,
      clock,
      logger: silentLogger(),
      compatibilityWorker,
      operatorMetrics,
      runtimesConfig,
      operatorNamespace: 'default',
    },
    fence,
  )
  onTestFinished(() => {
    term.abort(new NotLeaderError())
    return leader.stop()
  })
  return leader
}

const subject = () => cluster.apply('Subject', 'user', { schema: '"int"' })

describe('the active operator', () => {
  it('reconciles every existing resource, and checks the fence for the duration of each write', async () => {
    subject()
    start()
    await expect
      .poll(() => registry.writes.map(({ request }) => request.url))
      .toEqual(['/subjects/user/versions?normalize=false'])
    expect(new Set(asserted)).toEqual(new Set([10_000]))
  })

  it('reports UnknownCluster for a resource that refers to an unknown runtime', async () => {
    const key = cluster.apply('Subject', 'lost', { schema: '"int"', registryRef: { name: 'nowhere' } })
    start()
    await expect.poll(() => cluster.get(key)?.status.conditions[0]?.reason).toBe('UnknownCluster')
  })

  it('counts reconciles, and the requests to runtimes by endpoint and status', async () => {
    const key = subject()
    const leader = start()
    await expect.poll(() => registry.writes.length).toBe(1)
    expect(leader.queue('Subject')).toEqual({ waiting: 0, workingMs: [0] })
    registry.writes[0]!.response.writeHead(500).end('{"message":"no leader"}')
    await expect.poll(() => cluster.get(key)?.status.observedGeneration).toBe(1)
    const families = await metrics.metrics()
    for (const line of [
      'controller_runtime_reconcile_total{controller="subject",result="error"} 1',
      'controller_runtime_reconcile_errors_total{controller="subject"} 1',
      'workqueue_adds_total{name="subject",controller="subject"} 1',
      'workqueue_retries_total{name="subject",controller="subject"} 1',
      'weir_runtime_requests_total{cluster="default",endpoint="POST /subjects/{}",code="404"} 1',
      'weir_runtime_requests_total{cluster="default",endpoint="POST /subjects/{}/versions",code="500"} 1',
      'weir_runtime_up{cluster="default",runtime="registry"} 1',
    ]) {
      expect(families).toContain(line)
    }
  })

  it('writes nothing to runtimes or to the cluster when another process may lead', async () => {
    mayAct = false
    const key = subject()
    cluster.apply('Connector', 'orders', { class: 'Datagen' })
    // This Subject waits for its reference, so only its status would be written.
    const references = [{ name: 'r', subjectRef: { name: 'none' } }]
    const waiting = cluster.apply('Subject', 'waiting', { schema: '"int"', references })
    const before = [key, waiting].map((one) => cluster.get(one))
    start()
    await expect.poll(() => asserted.length).toBeGreaterThanOrEqual(3)
    await clock.advance(60_000)
    expect(registry.writes).toEqual([])
    expect([key, waiting].map((one) => cluster.get(one))).toEqual(before)
  })

  it('aborts running requests when it loses the leadership, and logs no error for them', async () => {
    const key = subject()
    const before = cluster.get(key)
    const leader = start()
    await expect.poll(() => registry.writes.length).toBe(1)
    const closed = new Promise<void>((resolve) => registry.writes[0]!.response.once('close', resolve))
    term.abort(new NotLeaderError())
    await closed
    await leader.stop()
    expect(cluster.get(key)).toBe(before)
  })

  it('waits for a running reconcile when it is stopped', async () => {
    const key = subject()
    const leader = start()
    await expect.poll(() => registry.writes.length).toBe(1)
    const stopping = leader.stop()
    registry.writes[0]!.response.end('{"id":1}')
    await stopping
    expect(cluster.get(key)?.status.conditions.map(({ reason }) => reason)).toContain('Registering')
  })

  it('starts no reconcile while it waits for the last poll of a runtime to end', async () => {
    registry.isSilent = true
    const leader = start()
    await expect.poll(() => registry.writes.length).toBeGreaterThan(0)
    const stopping = leader.stop()
    leader.enqueue(subject(), 'user')
    expect(leader.queue('Subject')).toEqual({ waiting: 0, workingMs: [] })
    await clock.advance(3_000)
    await stopping
  })

  it('reads at most ten resources of a kind per second in the resyncs of a runtime that it lists', {
    tags: ['slow'],
  }, async () => {
    const listed = await registryWithSubject()
    cluster.count = (kind) => (kind === 'Subject' ? 20_000 : 1)
    const key = subject()
    const leader = startOn(runtimesConfigFor({ registryUrl: listed.url, workerUrl: registry.url }))
    const isIdle = () => expect.poll(() => leader.queue('Subject')).toEqual({ waiting: 0, workingMs: [] })
    await until('a list after the first one', { everyMs: 1, timeoutMs: 60_000 }, async () => {
      await clock.advance(30_000)
      return listed.lists > 1
    })
    await isIdle()
    leader.enqueue(key, 'routine')
    await isIdle()
    const { lookups } = listed
    await clock.advance(1_990_000)
    await isIdle()
    expect(listed.lookups).toBe(lookups)
    await clock.advance(20_000)
    await expect.poll(() => listed.lookups).toBe(lookups + 1)
  })

  it('aborts requests to a runtime three seconds after it is stopped', async () => {
    subject()
    const leader = start()
    await expect.poll(() => registry.writes.length).toBe(1)
    let stopped = false
    const stopping = leader.stop().then(() => {
      stopped = true
    })
    await clock.advance(2_900)
    expect(stopped).toBe(false)
    await clock.advance(200)
    await stopping
  })
})

describe('a worker that does not respond', { tags: ['slow'] }, () => {
  const WAIT = { everyMs: 1, timeoutMs: 60_000 }
  const PROBE = 'GET /'
  const connectors = 100

  it('receives one probe at a time, and all its connectors are reconciled when it responds', {
    timeout: 120_000,
  }, async () => {
    const worker = await workerAway()
    const keys = Array.from({ length: connectors }, (_, at) => cluster.apply('Connector', `c${at}`, { class: 'Sink' }))
    const reasonOf = (key: ResourceKey) => cluster.get(key)?.status.conditions[0]?.reason
    start(worker.url)
    const loop = async () => {
      const { values } = (await metrics.getSingleMetric('controller_runtime_reconcile_total')?.get()) ?? { values: [] }
      return values.reduce((sum, { value }) => sum + value, 0)
    }
    const probes = () => worker.asked.filter((one) => one === PROBE).length
    await until('nine probes', WAIT, async () => {
      await clock.advance(1_000)
      return probes() >= 9
    })
    // This takes longer than a minute, in which the backoff of each connector alone would allow seven requests.
    expect(clock.monotonicMs()).toBeGreaterThan(75_000)
    expect(worker.asked.length - probes()).toBeLessThan(40)
    expect(new Set(keys.map(reasonOf))).toEqual(new Set(['WorkerUnreachable']))
    // Connectors are not reconciled repeatedly while the circuit is open.
    expect(await loop()).toBeLessThan(4 * connectors)
    worker.isAway = false
    await until('all to be passed over', WAIT, async () => {
      await clock.advance(1_000)
      return keys.every((key) => reasonOf(key) === 'PluginNotFound')
    })
    const firsts = new Set(
      worker.asked.filter((one) => /^GET \/connectors\/c\d+$/.test(one)).map((one) => one.slice(16)),
    )
    expect(firsts.size).toBe(connectors)
  })

  it('does not delay the timeout of deletions that wait for it', { timeout: 120_000 }, async () => {
    const worker = await workerAway()
    const runtimesConfig = runtimesConfigFor({ registryUrl: registry.url, workerUrl: worker.url })
    const [entry] = runtimesConfig.workers
    const key = cluster.apply('Connector', 'orders', { class: 'Sink' })
    startOn({ ...runtimesConfig, workers: [{ ...entry!, deletionTimeoutMs: 3_600_000 } as WorkerRuntimeConfig] })
    await until('it to be known as away', WAIT, async () => {
      await clock.advance(1_000)
      return worker.asked.includes(PROBE)
    })
    cluster.remove(key)
    clock.jump(Date.parse(cluster.get(key)?.metadata.deletionTimestamp ?? '') - clock.nowMs())
    await clock.advance(3_500_000)
    expect(cluster.get(key)?.metadata.deletionTimestamp).toBeDefined()
    await until('it to be gone', WAIT, async () => {
      await clock.advance(60_000)
      return cluster.get(key) === undefined
    })
    expect(cluster.events.map(({ reason }) => reason)).toContain('Abandoned')
  })
})
