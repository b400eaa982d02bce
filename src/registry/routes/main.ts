import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { AnsweredRequest } from '../metrics.ts'
import type { Api } from './api.ts'
import { compatibilityRoutes } from './compatibility.ts'
import { configRoutes } from './config.ts'
import { contextRoutes } from './contexts.ts'
import { modeRoutes } from './mode.ts'
import { schemaRoutes } from './schemas.ts'
import { type ServerIdentity, serverRoutes } from './server.ts'
import { subjectRoutes } from './subjects.ts'
import { versionRoutes } from './versions.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The original's name of this endpoint in its metrics. */
    metric?: string
  }
}

/** Everything the registry answers. Every resource answers under `/contexts/{context}` too. */
export async function registryRoutes(
  app: FastifyInstance,
  api: Api,
  { identity, answered }: { readonly identity: ServerIdentity; readonly answered: (request: AnsweredRequest) => void },
): Promise<void> {
  app.addHook('onRequest', (request, reply, done) => {
    const given = request.headers['x-request-id']
    void reply.header('x-request-id', typeof given === 'string' && given.trim() !== '' ? given : randomUUID())
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    answered({ endpoint: request.routeOptions.config?.metric, status: reply.statusCode, ms: reply.elapsedTime })
    done()
  })
  serverRoutes(app, api, identity)
  contextRoutes(app, api)
  resourceRoutes(app, api)
  await app.register(
    (within, _, done) => {
      resourceRoutes(within, api)
      done()
    },
    { prefix: '/contexts/:context' },
  )
}

function resourceRoutes(app: FastifyInstance, api: Api): void {
  subjectRoutes(app, api)
  versionRoutes(app, api)
  schemaRoutes(app, api)
  compatibilityRoutes(app, api)
  configRoutes(app, api)
  modeRoutes(app, api)
}
