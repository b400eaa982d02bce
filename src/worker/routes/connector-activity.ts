import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from '../../http/endpoint.ts'
import { type GroupReadOptions, readFromGroup } from '../membership/group-read.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { ConnectorLogs } from '../observability/connector-logs.ts'
import type { MetricsHistory } from '../observability/metrics-history.ts'

export type ConnectorActivityRoutes = GroupReadOptions & {
  readonly history: MetricsHistory
  readonly logs: ConnectorLogs
  readonly exists: (connector: string) => boolean
  /** The tasks of the connector on this worker, and when they were started, in ms since 1970. */
  readonly startedTasks: (connector: string) => readonly { readonly task: number; readonly startedMs: number }[]
  /** CPU time in cores, and the memory of the main process. */
  readonly processLoad: () => { readonly cpu: number; readonly memoryBytes: number }
  /** `host:port` of this worker, as statuses name it. */
  readonly workerId: () => string
  /** Identifies this run of the worker: the numbers of lines begin again in the next one. */
  readonly runId: string
}

const forwarded = z.object({ forward: z.string().optional() })
const response = { 200: z.unknown() }

/** A position in the logs of several workers: `RUN:NUMBER`, separated by commas. */
const POSITION = /^[\w-]+:\d+(?:,[\w-]+:\d+)*$/

/**
 * What the console shows of the connectors while they run, besides the REST API of Kafka Connect. Each response contains
 * the parts of all workers of the group.
 */
export function connectorActivityRoutes(app: FastifyInstance, options: ConnectorActivityRoutes): void {
  const { history, logs, exists, startedTasks, processLoad, workerId, runId } = options
  const requireExisting = (name: string) => {
    if (!exists(name)) throw new WorkerError('connector_not_found', `Connector ${name} not found`)
  }

  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/connectors/:name/metrics',
    permission: { operation: 'read', on: 'connector' },
    querystring: forwarded,
    response,
    handler: async (request, reply) => {
      const { name } = request.params
      requireExisting(name)
      const own = { worker: workerId(), tasks: startedTasks(name), ...history.read(name) }
      return reply
        .header('cache-control', 'no-store')
        .send(await readFromGroup(options, request, request.query.forward, own))
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/connectors/:name/log',
    permission: { operation: 'read', on: 'connector' },
    querystring: forwarded.extend({ after: z.string().default('') }),
    response,
    handler: async (request, reply) => {
      const { name } = request.params
      const { after, forward } = request.query
      requireExisting(name)
      const own = { worker: workerId(), run: runId, ...logs.read(name, numberOf(after, runId)) }
      return reply.header('cache-control', 'no-store').send(await readFromGroup(options, request, forward, own))
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/connector-metrics',
    permission: { operation: 'read', on: 'any' },
    querystring: forwarded,
    response,
    handler: async (request, reply) => {
      const { rights, query } = request
      const connectors = history.loads((name) => rights.allows('read', name))
      const isLeader = options.group()?.isLeader === true
      const own = { worker: workerId(), connectors, process: { isLeader, ...processLoad() } }
      return reply.header('cache-control', 'no-store').send(await readFromGroup(options, request, query.forward, own))
    },
  })
}

/** The number of the last line of this run that the client has; 0 if it has none. */
function numberOf(after: string, runId: string): number {
  if (after === '') return 0
  if (!POSITION.test(after))
    throw new WorkerError('invalid_request', `after '${after}' is invalid: expected RUN:NUMBER, separated by commas`)
  const own = after.split(',').find((position) => position.startsWith(`${runId}:`))
  return Number(own?.slice(runId.length + 1) ?? 0)
}
