import type { FastifyInstance } from 'fastify'
import type { WorkerInfo } from '../../clients/worker.ts'
import type { AnswererParts } from '../answerer.ts'
import type { Worker } from '../worker.ts'
import { connectorRoutes } from './connectors.ts'
import { forwarding } from './forwarding.ts'
import { type InternalRoutes, internalRoutes } from './internal.ts'
import { lifecycleRoutes } from './lifecycle.ts'
import { type LoggerRoutes, loggerRoutes } from './loggers.ts'
import { offsetRoutes } from './offsets.ts'
import { pluginRoutes } from './plugins.ts'

export type WorkerRoutes = {
  readonly worker: Worker
  readonly info: () => WorkerInfo
  readonly isReady: () => boolean
  readonly answerers: AnswererParts
  readonly internal: InternalRoutes
  /** Absent: they are answered elsewhere, or not at all. */
  readonly loggers: LoggerRoutes | undefined
}

/** Everything the worker answers. */
export function workerRoutes(app: FastifyInstance, routes: WorkerRoutes): void {
  const { worker, info, isReady, answerers, internal, loggers } = routes
  forwarding(app, answerers)

  app.get('/', async () => info())

  app.get('/health', async (_, reply) => {
    if (isReady()) {
      return { status: 'healthy', message: 'Worker has completed startup and is ready to handle requests.' }
    }
    return reply.code(503).send({ status: 'starting', message: 'Worker is still starting up.' })
  })

  connectorRoutes(app, worker)
  lifecycleRoutes(app, worker)
  offsetRoutes(app, worker)
  pluginRoutes(app, worker)
  internalRoutes(app, internal)
  if (loggers) loggerRoutes(app, loggers)
}
