import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { ApiError, type KubernetesApi } from '../../src/clients/kubernetes/kubernetes-api.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { kubernetesViewers } from '../../src/operator/console/viewer.ts'
import { startConsole } from '../../src/operator/console-server.ts'
import { RUNTIME_DEFAULTS, type RuntimesConfig } from '../../src/operator/runtimes.ts'
import { FakeClock } from './fake-clock.ts'
import { FakeCluster } from './fake-cluster.ts'

/** What users may do, as `verb plural namespace`; all namespaces are an empty one. */
const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  admin: [
    ...['list connectors ', 'list subjects ', 'list registrymodes ', 'update connectors ', 'update subjects '],
    'get configmaps default',
  ],
  viewer: ['list connectors default'],
  reader: ['list connectors default', 'readrecords connectors '],
  owner: ['list connectors ', 'update connectors ', 'readrecords connectors '],
  stranger: [],
}

type Review = { readonly kind: string; readonly spec: Readonly<Record<string, unknown>> }

/** An API server whose tokens are the names of users. */
function fakeApi(permissions: Readonly<Record<string, readonly string[]>>) {
  const reviews: Review[] = []
  const api = { isDown: false, reviews, send: send as KubernetesApi['send'] }
  async function send({ body }: { readonly body?: unknown }): Promise<unknown> {
    const { kind, spec } = body as Review
    reviews.push({ kind, spec })
    if (api.isDown) throw new ApiError(0, 'Unreachable', 'the API server does not respond')
    if (kind === 'TokenReview') {
      const name = String(spec['token'])
      return { status: permissions[name] ? { authenticated: true, user: { username: name, groups: ['g'] } } : {} }
    }
    const { verb, resource, namespace } = spec['resourceAttributes'] as Readonly<Record<string, string>>
    return { status: { allowed: permissions[String(spec['user'])]?.includes(`${verb} ${resource} ${namespace}`) } }
  }
  return api
}

type TestConsoleOptions = {
  readonly isAnonymous?: boolean
  readonly allowsInlineSecrets?: boolean
  readonly listener?: string
  readonly certificates?: string
}

/** The console of an operator, with a worker that records the requests it receives, and an API server with users. */
export async function startTestConsole(options: TestConsoleOptions = {}) {
  const { isAnonymous = false, allowsInlineSecrets = false, listener = 'http://127.0.0.1:0', certificates } = options
  const received: { readonly url: string; readonly headers: IncomingMessage['headers'] }[] = []
  const runtime = createServer((request, response) => {
    received.push({ url: request.url ?? '', headers: request.headers })
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => runtime.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void runtime.close())
  const endpoint = { url: `http://127.0.0.1:${(runtime.address() as AddressInfo).port}` }
  const entry = { ...RUNTIME_DEFAULTS, name: 'default', endpoint }
  const runtimesConfig: RuntimesConfig = {
    workers: [
      { ...entry, allowsInlineSecrets },
      { name: 'broken', error: 'url is missing' },
    ],
    registries: [entry],
  }
  const cluster = new FakeCluster()
  const permissions: Record<string, readonly string[]> = { ...PERMISSIONS }
  const [api, clock] = [fakeApi(permissions), new FakeClock()]
  const server = await startConsole({
    listener,
    ...(certificates !== undefined && { certificates }),
    logger: silentLogger(),
    cluster,
    instance: 'weir',
    runtimesConfig: () => runtimesConfig,
    isConfigValid: () => true,
    leadership: () => ({ identity: 'a', leader: 'b', isForbidden: false }),
    ...(isAnonymous ? {} : { identify: kubernetesViewers(api, clock) }),
  })
  onTestFinished(() => server.stop())
  const root = server.url.replace(/\/ui$/, '')
  const send = (method: string, path: string, headers: Readonly<Record<string, string>> = {}, body?: object) =>
    fetch(`${root}${path}`, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  return {
    ...{ url: server.url, api, permissions, clock, cluster, received, send },
    get: (path: string, token?: string) =>
      send('GET', path, token === undefined ? {} : { authorization: `Bearer ${token}` }),
    async compare(name: string, config: object, token = 'admin'): Promise<unknown> {
      const path = `/ui/api/resources/Connector/default/${name}/comparison`
      return (await send('POST', path, { authorization: `Bearer ${token}` }, { config })).json()
    },
  }
}
