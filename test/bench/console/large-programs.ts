import { silentLogger } from '../../../src/common/logging/logger.ts'
import { createMetrics } from '../../../src/common/metrics-registry.ts'
import { ChangeFeed } from '../../../src/console/change-feed.ts'
import { consoleRoutes } from '../../../src/console/routes/console-routes.ts'
import { startHttpServer } from '../../../src/http/server.ts'

const CLASSES = ['io.debezium.connector.postgresql.PostgresConnector', 'io.confluent.connect.jdbc.JdbcSinkConnector']
const WORKERS = ['10.0.0.7:8083', '10.0.0.8:8083', '10.0.0.9:8083']
export const VERSIONS_PER_SUBJECT = 5
const LARGE_SUBJECT = 'large-value'
const TRACE = `org.apache.kafka.connect.errors.ConnectException: the table orders does not exist\n${'\tat poll (orders.ts:1)\n'.repeat(30)}`

/** What the lists of the console read of a worker with many connectors and of a registry with many versions. */
export type LargePrograms = {
  readonly url: string
  /** A subject that has as many versions as all others together. */
  readonly largeSubject: string
  /** Changes the state of one connector, which open pages are informed of. */
  changeConnector(): void
  stop(): Promise<void>
}

/** Serves the console and the lists of the REST APIs. Neither program runs, so that they need none of the machine. */
export async function startLargePrograms(sizes: { connectors: number; versions: number }): Promise<LargePrograms> {
  const changes = new ChangeFeed()
  const connectors = Array.from({ length: sizes.connectors }, (_, at) => connectorOf(at))
  let list = JSON.stringify(Object.fromEntries(connectors))
  const versions = Array.from({ length: sizes.versions }, (_, at) => versionOf(at))
  const subjects = [...new Set(versions.map(({ subject }) => subject))]
  const summaries = subjects.map(summaryOf)
  const ofLargeSubject = versions.map(({ id }) => id)
  const server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    metrics: createMetrics(),
    isReady: () => true,
    consumes: ['application/json'],
    produces: ['application/json'],
    routes: (app) => {
      const runtimes = (['worker', 'registry'] as const).map((kind) => ({ kind, name: kind, basePath: '' }))
      consoleRoutes(app, { program: 'operator', runtimes: () => runtimes, changes })
      app.get('/connectors', async (_request, reply) => reply.type('application/json').send(list))
      app.get('/subjects', async () => subjects)
      app.get('/ui/api/subjects', async () => summaries)
      app.get('/ui/api/subjects/:subject/comparison', async () => ({ backward: [], forward: [] }))
      app.get('/subjects/:subject/versions', async () => ofLargeSubject)
      app.get<{ Params: { version: string } }>('/subjects/:subject/versions/:version', async ({ params }) => {
        const version = Number(params.version)
        return { ...versions[version - 1], subject: LARGE_SUBJECT, version }
      })
      app.get('/subjects/:subject/versions/:version/referencedby', async () => [])
      app.get('/schemas/ids/:id/versions', async () => [])
      app.get('/mode/:subject', async () => ({ mode: 'READWRITE' }))
      app.get('/config/:subject', async () => ({ compatibilityLevel: 'BACKWARD' }))
      app.get('/mode', async () => ({ mode: 'READWRITE' }))
      app.get('/config', async () => ({ compatibilityLevel: 'BACKWARD' }))
      app.get('/contexts', async () => ['.'])
      app.get<{ Querystring: { offset: string; limit: string } }>('/schemas', async ({ query }) => {
        const first = Number(query.offset)
        return versions.slice(first, first + Number(query.limit))
      })
    },
  })
  let changed = 0
  return {
    url: server.urls[0] ?? '',
    largeSubject: LARGE_SUBJECT,
    changeConnector: () => {
      const at = ++changed % sizes.connectors
      const [name] = connectors[at]!
      connectors[at] = connectorOf(at, TRACE)
      list = JSON.stringify(Object.fromEntries(connectors))
      changes.publish({ kind: 'connector', name })
    },
    stop: async () => {
      changes.close()
      await server.stop(0)
    },
  }
}

function connectorOf(at: number, trace?: string) {
  const name = `team-${at % 40}-connector-${String(at).padStart(5, '0')}`
  const worker = WORKERS[at % WORKERS.length]!
  const config = {
    name,
    'connector.class': CLASSES[at % CLASSES.length]!,
    'tasks.max': '2',
    topics: `topic-${at}`,
    ...Object.fromEntries(Array.from({ length: 12 }, (_, key) => [`some.key.of.it.${key}`, `value ${at} ${key}`])),
  }
  const failed = trace === undefined ? {} : { state: 'FAILED', trace }
  const tasks = [0, 1].map((id) => ({ id, state: 'RUNNING', worker_id: worker, ...(id === 0 ? failed : {}) }))
  const status = { name, type: 'sink', connector: { state: 'RUNNING', worker_id: worker }, tasks }
  const ids = tasks.map(({ id }) => ({ connector: name, task: id }))
  return [name, { info: { name, type: 'sink', config, tasks: ids }, status }] as const
}

/** A row of `GET /ui/api/subjects`. */
function summaryOf(subject: string, at: number) {
  const id = (at + 1) * VERSIONS_PER_SUBJECT
  return [
    subject,
    'AVRO',
    VERSIONS_PER_SUBJECT,
    id,
    VERSIONS_PER_SUBJECT,
    'BACKWARD',
    at % 5 === 0,
    1_700_000_000_000 + at,
    false,
  ]
}

function versionOf(at: number) {
  const topic = Math.floor(at / VERSIONS_PER_SUBJECT)
  const subject = `team-${topic % 40}-topic-${topic}-value`
  const fields = Array.from({ length: 5 }, (_, field) => ({ name: `field_${field}`, type: 'long' }))
  const schema = JSON.stringify({ type: 'record', name: `Record${at}`, fields })
  return { subject, version: (at % VERSIONS_PER_SUBJECT) + 1, id: at + 1, schema }
}
