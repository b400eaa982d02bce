import type { FastifyInstance } from 'fastify'
import type { DekRegistry } from '../dek/dek-registry.ts'
import type { Api } from './api.ts'
import { associationRoutes } from './associations.ts'
import { compatibilityRoutes } from './compatibility.ts'
import { configRoutes } from './config.ts'
import { contextRoutes } from './contexts.ts'
import { dekRoutes } from './deks.ts'
import { kekRoutes } from './keks.ts'
import { modeRoutes } from './mode.ts'
import { schemaRoutes } from './schemas.ts'
import { type ServerIdentity, serverRoutes } from './server.ts'
import { subjectRoutes } from './subjects.ts'
import { versionRoutes } from './versions.ts'

/** Registers all routes. The routes of subjects, schemas, config and so on also exist under `/contexts/{context}`. */
export async function registryRoutes(
  app: FastifyInstance,
  api: Api,
  identity: ServerIdentity,
  dekRegistry: DekRegistry | undefined,
): Promise<void> {
  serverRoutes(app, api, identity)
  contextRoutes(app, api)
  resourceRoutes(app, api, dekRegistry)
  await app.register(
    (within, _, done) => {
      resourceRoutes(within, api, dekRegistry)
      done()
    },
    { prefix: '/contexts/:context' },
  )
}

function resourceRoutes(app: FastifyInstance, api: Api, dekRegistry: DekRegistry | undefined): void {
  subjectRoutes(app, api)
  versionRoutes(app, api)
  schemaRoutes(app, api)
  compatibilityRoutes(app, api)
  configRoutes(app, api)
  modeRoutes(app, api)
  if (api.settings['associations.enable']) associationRoutes(app, api)
  if (dekRegistry) {
    kekRoutes(app, api, dekRegistry)
    dekRoutes(app, api, dekRegistry)
  }
}
