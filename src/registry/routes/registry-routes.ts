import type { FastifyInstance } from 'fastify'
import type { OpenApiOptions } from '../../http/open-api.ts'
import type { DekRegistry } from '../dek/dek-registry.ts'
import { MEDIA_TYPES } from '../setting-keys.ts'
import { associationRoutes } from './associations.ts'
import { compatibilityRoutes } from './compatibility.ts'
import { configRoutes } from './config.ts'
import { contextRoutes } from './contexts.ts'
import { dekRoutes } from './deks.ts'
import { registryError } from './entities.ts'
import { REGISTRY_ERROR_CODES } from './error-response.ts'
import { kekRoutes } from './keks.ts'
import { modeRoutes } from './mode.ts'
import type { RouteContext } from './route-context.ts'
import { schemaRoutes } from './schemas.ts'
import { type ServerIdentity, serverMetadataRoutes } from './server-metadata.ts'
import { subjectRoutes } from './subjects.ts'
import { versionRoutes } from './versions.ts'

/** What the OpenAPI document of the registry says besides its endpoints. */
export function registryOpenApi(version: string): OpenApiOptions {
  return {
    title: 'Weir schema registry',
    version,
    description:
      'The paths of subjects, schemas, config, mode, associations and keys also exist under /contexts/{context}. A path may end with a slash.',
    mediaTypes: MEDIA_TYPES,
    error: registryError,
    errorCodes: REGISTRY_ERROR_CODES,
  }
}

/** Registers all routes. The routes of subjects, schemas, config and so on also exist under `/contexts/{context}`. */
export async function registryRoutes(
  app: FastifyInstance,
  route: RouteContext,
  identity: ServerIdentity,
  dekRegistry: DekRegistry | undefined,
): Promise<void> {
  serverMetadataRoutes(app, route, identity)
  contextRoutes(app, route)
  resourceRoutes(app, route, dekRegistry)
  await app.register(
    (within, _, done) => {
      resourceRoutes(within, route, dekRegistry)
      done()
    },
    { prefix: '/contexts/:context' },
  )
}

function resourceRoutes(app: FastifyInstance, route: RouteContext, dekRegistry: DekRegistry | undefined): void {
  subjectRoutes(app, route)
  versionRoutes(app, route)
  schemaRoutes(app, route)
  compatibilityRoutes(app, route)
  configRoutes(app, route)
  modeRoutes(app, route)
  if (route.settings['associations.enable']) associationRoutes(app, route)
  if (dekRegistry) {
    kekRoutes(app, route, dekRegistry)
    dekRoutes(app, route, dekRegistry)
  }
}
