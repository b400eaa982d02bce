import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { addEndpoint, noContent } from '../../http/endpoint.ts'
import type { Herder } from '../herder/herder.ts'
import type { ConfigViewOf } from './config-view.ts'
import { connector, connectorConfig, expandedConnectors, topics } from './entities.ts'
import { configBody, createBody } from './request-bodies.ts'

/** The routes of `/connectors` for connectors, their configurations and their topics. */
export function connectorRoutes(app: FastifyInstance, herder: Herder, viewOf: ConfigViewOf): void {
  addEndpoint(app, {
    method: 'GET',
    url: '/connectors',
    summary: 'Lists the connectors: their names, or their details with `expand`',
    permission: { operation: 'read', on: 'any' },
    querystring: z.object({
      expand: z
        .preprocess((value) => (value === undefined ? undefined : [value].flat()), z.array(z.string()).optional())
        .meta({
          description: 'Details to return for each connector.',
          items: { enum: ['info', 'status'] },
        }),
    }),
    response: { 200: z.union([z.array(z.string()), expandedConnectors]) },
    handler: async (request) => {
      const { query, rights } = request
      const isReadable = (name: string) => rights.allows('read', name)
      const { expand } = query
      if (expand === undefined) return herder.names().filter(isReadable)
      const what = { info: expand.includes('info'), status: expand.includes('status') }
      const expanded = herder.expanded(what, viewOf(request))
      return Object.fromEntries(Object.entries(expanded).filter(([name]) => isReadable(name)))
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: '/connectors',
    summary: 'Creates a connector',
    permission: { operation: 'write', on: 'any' },
    body: createBody,
    hasWrittenNumbers: true,
    response: { 201: connector },
    errors: ['connector_exists', 'rebalancing', 'invalid_request', 'invalid_config'],
    handler: async (request, reply) => {
      const { name, config, target } = request.body
      const info = await herder.create(name, config, viewOf(request)(name), target)
      created(request, reply, name)
      return info
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/connectors/:name',
    summary: 'Returns the configuration and tasks of a connector',
    permission: { operation: 'read', on: 'connector' },
    response: { 200: connector },
    errors: ['connector_not_found'],
    handler: async (request) => herder.info(request.params.name, viewOf(request)(request.params.name)),
  })

  addEndpoint(app, {
    method: 'DELETE',
    url: '/connectors/:name',
    summary: 'Deletes a connector. Its offsets are kept',
    permission: { operation: 'delete', on: 'connector' },
    response: { 204: noContent },
    errors: ['connector_not_found', 'rebalancing'],
    handler: async ({ params }, reply) => {
      await herder.delete(params.name)
      return reply.code(204).send()
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/connectors/:name/config',
    summary: 'Returns the configuration of a connector',
    permission: { operation: 'read', on: 'connector' },
    response: { 200: connectorConfig },
    errors: ['connector_not_found'],
    handler: async (request) => herder.config(request.params.name, viewOf(request)(request.params.name)),
  })

  addEndpoint(app, {
    method: 'PUT',
    url: '/connectors/:name/config',
    summary: 'Creates a connector, or replaces its configuration',
    permission: { operation: 'write', on: 'connector' },
    body: configBody,
    hasWrittenNumbers: true,
    response: { 200: connector, 201: connector },
    errors: ['rebalancing', 'invalid_request', 'invalid_config'],
    handler: async (request, reply) => {
      const { name } = request.params
      const { created: isNew, info } = await herder.putConfig(name, request.body, viewOf(request)(name))
      if (isNew) created(request, reply, name)
      return info
    },
  })

  addEndpoint(app, {
    method: 'PATCH',
    url: '/connectors/:name/config',
    summary: 'Changes keys of the configuration of a connector. Null removes a key',
    permission: { operation: 'write', on: 'connector' },
    body: configBody,
    hasWrittenNumbers: true,
    response: { 200: connector },
    errors: ['connector_not_found', 'rebalancing', 'invalid_request', 'invalid_config'],
    handler: async (request) =>
      herder.patchConfig(request.params.name, request.body, viewOf(request)(request.params.name)),
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/connectors/:name/topics',
    summary: 'Lists the topics that a connector has used',
    permission: { operation: 'read', on: 'connector' },
    response: { 200: topics },
    errors: ['connector_not_found', 'reset_disabled'],
    handler: async ({ params }) => ({ [params.name]: { topics: herder.topics(params.name) } }),
  })

  addEndpoint(app, {
    method: 'PUT',
    url: '/connectors/:name/topics/reset',
    summary: 'Clears the list of topics that a connector has used',
    permission: { operation: 'offsets', on: 'connector' },
    response: { 202: noContent },
    errors: ['connector_not_found', 'reset_disabled'],
    handler: async ({ params }, reply) => {
      await herder.resetTopics(params.name)
      return reply.code(202).send()
    },
  })
}

function created({ protocol, host }: FastifyRequest, reply: FastifyReply, name: string): void {
  void reply.code(201).header('location', `${protocol}://${host}/connectors/${encodeURIComponent(name)}`)
}
