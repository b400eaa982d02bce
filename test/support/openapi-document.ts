import Fastify, { type FastifyInstance } from 'fastify'
import { createMetrics } from '../../src/common/metrics-registry.ts'
import { zodCompilers } from '../../src/http/endpoint.ts'
import { addOpenApi, type OpenApiOptions } from '../../src/http/open-api.ts'
import { addOperationalRoutes } from '../../src/http/operational-routes.ts'

export type DescribedApi = {
  readonly document: object
  /** `METHOD /path/{parameter}` of every route, also of those that are not documented. */
  readonly routes: readonly string[]
}

/** Creates the OpenAPI document of routes that are never called. */
export async function describeApi(
  options: OpenApiOptions,
  routes: (app: FastifyInstance) => void | Promise<void>,
): Promise<DescribedApi> {
  const app = Fastify({ exposeHeadRoutes: false, schemaController: { compilersFactory: zodCompilers } })
  const added: string[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const path = url
      .replace(/\(.*?\)(?=\/|$)/g, '')
      .replace(/(?<!:):(\w+)/g, '{$1}')
      .replace('::', ':')
    for (const one of [method].flat()) added.push(`${one} ${path}`)
  })
  await addOpenApi(app, options)
  addOperationalRoutes(app, { metrics: createMetrics() })
  await routes(app)
  await app.ready()
  return { document: app.swagger(), routes: added }
}
