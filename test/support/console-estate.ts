import { onTestFinished } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createMetrics } from '../../src/common/metrics-registry.ts'
import { ChangeFeed } from '../../src/console/change-feed.ts'
import { consoleRoutes } from '../../src/console/routes/console-routes.ts'
import { HttpError } from '../../src/http/http-error.ts'
import { startHttpServer } from '../../src/http/server.ts'

const WORKER = '10.0.0.7:8083'
const TYPES = ['AVRO', 'AVRO', 'JSON', 'PROTOBUF'] as const
const TOPIC = { every: 3 }

type Info = { readonly name: string; readonly type: string; readonly config: Readonly<Record<string, string>> }
export type EstateConnector = { readonly info: Info; readonly status: object }

/** Connectors in pairs: a source writes the topic that a sink reads. Some fail, some are paused. */
export function estateConnectors(count: number): Record<string, EstateConnector> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => {
      const connector = estateConnector(at)
      return [connector.info.name, connector]
    }),
  )
}

function estateConnector(at: number): EstateConnector {
  const pair = Math.floor(at / 2)
  const type = at % 2 === 1 ? 'sink' : 'source'
  const name = `${type}-${String(pair).padStart(4, '0')}`
  const topic = `orders-${pair - (pair % TOPIC.every)}`
  const config = {
    ...{ name, 'value.converter': 'AvroConverter' },
    ...(type === 'sink'
      ? { 'connector.class': 'PostgresSink', topics: topic }
      : { 'connector.class': 'PostgresCdcSource', topic }),
    ...(at % 40 === 1 ? { 'weir.owner': `weir/shop/${name}` } : {}),
  }
  const isFailed = at % 29 === 0
  const own = at % 31 === 3 ? 'PAUSED' : 'RUNNING'
  const task = isFailed
    ? { state: 'FAILED', trace: `Error: the table ${topic} does not exist\n\tat poll (a.ts:1)` }
    : { state: own }
  const connector = { state: own, worker_id: WORKER }
  return {
    info: { name, type, config },
    status: { name, type, connector, tasks: [{ id: 0, worker_id: WORKER, ...task }] },
  }
}

export function estateSubjects(count: number): readonly (readonly unknown[])[] {
  return Array.from({ length: count }, (_, at) => {
    const subject = `${at % 10 === 9 ? ':.team:' : ''}orders-${at}-value`
    return [
      subject,
      TYPES[at % 4],
      1 + (at % 7),
      100_000 + at,
      1 + (at % 7),
      at % 5 === 0 ? 'FULL' : 'BACKWARD',
      at % 5 === 0,
      1_700_000_000_000 + at * 1e7,
      false,
    ]
  })
}

type Estate = {
  readonly connectors: Record<string, EstateConnector>
  readonly subjects: readonly (readonly unknown[])[]
  /** Names for which every change is refused. */
  readonly refused?: ReadonlySet<string>
  /** Of each subject. */
  readonly versions?: number
  /** With resources, as an operator has them. */
  readonly resources?: readonly object[]
}

/** Serves the console of a worker and a registry that only answer. Returns its URL and the changes that were requested. */
export async function startEstate({ connectors, subjects, refused = new Set(), versions = 1, resources }: Estate) {
  const changes = new ChangeFeed()
  const requests: string[] = []
  const runtimes = [
    { kind: 'worker', name: 'worker', basePath: '' },
    { kind: 'registry', name: 'registry', basePath: '' },
  ] as const
  const server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    metrics: createMetrics(),
    isReady: () => true,
    consumes: ['application/json'],
    produces: ['application/json'],
    routes: (app) => {
      consoleRoutes(app, {
        program: 'worker',
        runtimes: () => runtimes,
        changes,
        hasResources: resources !== undefined,
      })
      app.get('/ui/api/resources', async () => resources)
      app.get('/ui/api/operator', async () => ({ leadership: null, isConfigValid: true, invalidRuntimes: [] }))
      app.get('/connectors', async () => connectors)
      app.get('/ui/api/connector-topics', async () => ({ topics: {}, defaultConverters: {} }))
      app.get('/ui/api/connector-metrics', async () => ({
        workers: [
          {
            worker: WORKER,
            connectors: Object.fromEntries(
              Object.keys(connectors).map((name, at) => [
                name,
                { recordsPerSecond: at % 90, lag: (at * 37) % 5_000, errors: 0 },
              ]),
            ),
          },
        ],
      }))
      app.get('/ui/api/subjects', async () => subjects)
      app.get('/subjects', async () => subjects.map(([subject]) => subject))
      const numbers = Array.from({ length: versions }, (_, at) => at + 1)
      app.get('/subjects/:subject/versions', async () => numbers)
      app.get<{ Params: { version: string } }>('/subjects/:subject/versions/:version', async ({ params }) => ({
        subject: 'x',
        version: Number(params.version),
        id: 7,
        schema: '"string"',
      }))
      app.get('/contexts', async () => ['.', '.team'])
      app.get('/config', async () => ({ compatibilityLevel: 'BACKWARD' }))
      app.get('/mode', async () => ({ mode: 'READWRITE' }))
      app.route<{ Params: { name: string; action?: string } }>({
        method: ['PUT', 'POST', 'DELETE'],
        url: '/connectors/:name/:action',
        handler: async ({ method, params: { name, action } }, reply) => {
          requests.push(`${method} ${name} ${action}`)
          if (refused.has(name)) throw new HttpError(403, `you lack the permission lifecycle on ${name}`)
          return reply.code(204).send()
        },
      })
      app.delete<{ Params: { name: string } }>('/connectors/:name', async ({ params: { name } }, reply) => {
        requests.push(`DELETE ${name}`)
        if (refused.has(name)) throw new HttpError(403, `you lack the permission delete on ${name}`)
        delete connectors[name]
        return reply.code(204).send()
      })
    },
  })
  onTestFinished(async () => {
    changes.close()
    await server.stop(0)
  })
  return { url: server.urls[0] ?? '', requests }
}
