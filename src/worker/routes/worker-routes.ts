import type { FastifyInstance } from 'fastify'
import type { ServerInfo } from '../../clients/worker-client.ts'
import { addEndpoint } from '../../http/endpoint.ts'
import type { OpenApiOptions } from '../../http/open-api.ts'
import type { Herder } from '../herder/herder.ts'
import type { WorkerRequestHandlerOptions } from '../membership/request-forwarding.ts'
import { configViewFor, type Masking } from './config-view.ts'
import { connectorRoutes } from './connectors.ts'
import { health, worker, workerError } from './entities.ts'
import { WORKER_ERROR_CODES } from './error-response.ts'
import { addForwarding } from './forwarded-routes.ts'
import { type InternalRoutesOptions, internalRoutes } from './internal.ts'
import { lifecycleRoutes } from './lifecycle.ts'
import { offsetRoutes } from './offsets.ts'
import { pluginRoutes } from './plugins.ts'
import { checkBodies } from './request-authorization.ts'
import { addRequestTimeout, withRequestTimeout } from './request-timeout.ts'

export type WorkerRoutes = {
  readonly herder: Herder
  readonly info: () => ServerInfo
  readonly isReady: () => boolean
  /**
   * Resolves to true when the jobs that were queued before are done, such as starting and stopping connectors and
   * tasks.
   */
  readonly isResponding: () => Promise<boolean>
  /** Timeouts of all requests, and of `/health`. */
  readonly timeouts: { readonly requestMs: number; readonly healthMs: number }
  readonly requestHandler: WorkerRequestHandlerOptions
  /** For whom literal secrets in configurations are masked. */
  readonly masking: Masking
  readonly internal: InternalRoutesOptions
}

/** What the OpenAPI document of the worker says besides its endpoints. */
export function workerOpenApi(version: string): OpenApiOptions {
  return {
    title: 'Weir connector worker',
    version,
    description:
      'Paths may end with a slash. Every worker of a group serves the whole API: it forwards requests that the leader must process.',
    mediaTypes: ['application/json'],
    error: workerError,
    errorCodes: WORKER_ERROR_CODES,
  }
}

/** All routes of the worker except those of its loggers. */
export function workerRoutes(app: FastifyInstance, routes: WorkerRoutes): void {
  const { herder, info, isReady, isResponding, timeouts, requestHandler, masking, internal } = routes
  const viewOf = configViewFor(masking)
  addRequestTimeout(app, timeouts.requestMs)
  checkBodies(app)
  addForwarding(app, requestHandler)

  addEndpoint(app, {
    method: 'GET',
    url: '/',
    summary: 'Returns the version of the worker and the id of its Kafka cluster',
    permission: 'authenticated',
    response: { 200: worker },
    handler: async () => info(),
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/health',
    summary: 'Reports whether the worker is ready to serve requests',
    permission: 'authenticated',
    response: { 200: health, 500: health, 503: health },
    handler: async (_, reply) => {
      if (!isReady()) return reply.code(503).send({ status: 'starting', message: 'Worker is still starting up.' })
      const isAlive = await withRequestTimeout(isResponding(), timeouts.healthMs).catch(() => false)
      if (isAlive) {
        const message = 'Worker has completed startup and is ready to handle requests.'
        return reply.send({ status: 'healthy', message })
      }
      const message = 'Worker was unable to handle this request and may be unable to handle other requests.'
      return reply.code(500).send({ status: 'unhealthy', message })
    },
  })

  connectorRoutes(app, herder, viewOf)
  lifecycleRoutes(app, herder, viewOf)
  offsetRoutes(app, herder)
  pluginRoutes(app, herder)
  internalRoutes(app, internal)
}
