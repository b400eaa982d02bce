import type { Logger } from '../config/logger.ts'
import type { Metrics } from '../config/metrics.ts'
import { type HttpServer, startHttpServer } from '../http/server.ts'
import type { Registry } from './registry.ts'
import { Api } from './routes/api.ts'
import { toWire } from './routes/errors.ts'
import { MEDIA_TYPES, registryRoutes } from './routes/main.ts'
import type { ServerIdentity } from './routes/server.ts'
import type { RegistryValues } from './settings.ts'

export type ServeOptions = {
  readonly settings: RegistryValues
  readonly identity: ServerIdentity
  readonly logger: Logger
  readonly metrics?: Metrics
  readonly ready: () => boolean
}

/** Puts a registry behind its listeners. */
export function serveRegistry(registry: Registry, options: ServeOptions): Promise<HttpServer> {
  const { settings, identity, logger, metrics, ready } = options
  const api = new Api(registry, settings)
  return startHttpServer({
    listeners: settings.listeners,
    logger,
    routes: (app) => registryRoutes(app, api, identity),
    toWire: (error) => toWire(error, api.profile),
    // Clients that name no type, or say only that there are bytes, mean JSON.
    consumes: [...MEDIA_TYPES, 'application/octet-stream'],
    produces: MEDIA_TYPES,
    ...(metrics ? { metrics } : {}),
    ready,
  })
}
