import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from '../../http/endpoint.ts'
import { HttpError } from '../../http/http-error.ts'
import type { ConsoleState } from '../console/console-state.ts'
import { compareConfig, type Declaration, declarationOf } from '../console/declaration.ts'
import { referencedObjectsOf } from '../resources/referenced-objects.ts'
import type { Resource } from '../resources/resource.ts'
import { asUnavailable } from './console-authorization.ts'

type ResourceParams = { readonly kind: string; readonly namespace: string; readonly name: string }

/**
 * What the console shows besides runtimes: the resources that the user may read, what one of them declares, and the state
 * of the operator. Nothing here reads a runtime: the page does, with the credentials of its user.
 */
export function resourceRoutes(app: FastifyInstance, state: ConsoleState): void {
  const response = { 200: z.unknown() }

  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/resources',
    permission: 'authenticated',
    response,
    handler: async ({ viewer }, reply) =>
      reply.header('cache-control', 'no-store').send(await orUnavailable(state.resources(viewer))),
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/operator',
    permission: 'authenticated',
    response,
    handler: async (_request, reply) => reply.header('cache-control', 'no-store').send(state.operator()),
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/resources/:kind/:namespace/:name',
    permission: 'authenticated',
    response,
    handler: async (request, reply) => {
      const resource = await findReadable(request)
      const { cluster } = state
      const found: Declaration = await declarationOf(resource, { cluster, ...(await visibility(resource, request)) })
      return reply.header('cache-control', 'no-store').send(found)
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: '/ui/api/resources/:kind/:namespace/:name/comparison',
    permission: 'authenticated',
    response,
    handler: async (request, reply) => {
      const resource = await findReadable(request)
      if (resource.kind !== 'Connector') throw new HttpError(400, `only a Connector has a configuration to compare`)
      const { config } = (request.body ?? {}) as { readonly config?: unknown }
      if (!isConfig(config))
        throw new HttpError(400, 'expected {"config": {…}} with the configuration of the connector')
      const runtimeConfig = state.workerOf(resource)
      if (runtimeConfig === undefined)
        throw new HttpError(404, `the operator's configuration has no valid worker ${resource.spec.workerRef.name}`)
      const { cluster, instance } = state
      const compared = await compareConfig(resource, config, {
        cluster,
        instance,
        runtimeConfig,
        ...(await visibility(resource, request)),
      })
      return reply.header('cache-control', 'no-store').send(compared)
    },
  })

  async function findReadable({
    params,
    viewer,
  }: Pick<FastifyRequest<{ Params: ResourceParams }>, 'params' | 'viewer'>) {
    const { kind, namespace, name } = params
    const found = await orUnavailable(state.find({ kind, namespace, name }, viewer))
    // The same response for a resource that the user may not read.
    if (found === undefined) throw new HttpError(404, `there is no ${kind} ${namespace}/${name} that you may read`)
    return found
  }

  async function visibility(resource: Resource, { viewer }: Pick<FastifyRequest, 'viewer'>) {
    const { configmaps } = referencedObjectsOf(resource)
    const isPublic = viewer === undefined || configmaps.length === 0
    return {
      showsConfigMaps: isPublic || (await orUnavailable(viewer.mayReadConfigMaps(resource.metadata.namespace))),
    }
  }
}

/** Whether all values are strings, as in the configurations that a worker returns. */
function isConfig(config: unknown): config is Readonly<Record<string, string>> {
  return (
    typeof config === 'object' && config !== null && Object.values(config).every((value) => typeof value === 'string')
  )
}

async function orUnavailable<T>(read: Promise<T>): Promise<T> {
  return read.catch((error: unknown) => Promise.reject(asUnavailable(error)))
}
