import type { FastifyInstance } from 'fastify'
import type { Herder } from '../herder/herder.ts'
import type { ConfigViewOf } from './config-view.ts'
import { parseConfigBody, parseCreateBody } from './parse-body.ts'

type ByName = { Params: { name: string } }

/** The routes of `/connectors` for connectors, their configurations and their topics. */
export function connectorRoutes(app: FastifyInstance, herder: Herder, viewOf: ConfigViewOf): void {
  app.get<{ Querystring: { expand?: string | string[] } }>('/connectors', async (request) => {
    const { query, rights } = request
    const isReadable = (name: string) => rights.allows('read', name)
    if (query.expand === undefined) return herder.names().filter(isReadable)
    const expand = [query.expand].flat()
    const what = { info: expand.includes('info'), status: expand.includes('status') }
    const expanded = herder.expanded(what, viewOf(request))
    return Object.fromEntries(Object.entries(expanded).filter(([name]) => isReadable(name)))
  })

  app.post('/connectors', async (request, reply) => {
    const { body, protocol, host } = request
    const { name, config, target } = parseCreateBody(body)
    const info = await herder.create(name, config, viewOf(request)(name), target)
    void reply.code(201).header('location', `${protocol}://${host}/connectors/${encodeURIComponent(name)}`)
    return info
  })

  app.get<ByName>('/connectors/:name', async (request) =>
    herder.info(request.params.name, viewOf(request)(request.params.name)),
  )

  app.delete<ByName>('/connectors/:name', async ({ params }, reply) => {
    await herder.delete(params.name)
    return reply.code(204).send()
  })

  app.get<ByName>('/connectors/:name/config', async (request) =>
    herder.config(request.params.name, viewOf(request)(request.params.name)),
  )

  app.put<ByName>('/connectors/:name/config', async (request, reply) => {
    const { params, body, protocol, host } = request
    const { created, info } = await herder.putConfig(params.name, parseConfigBody(body), viewOf(request)(params.name))
    if (created) {
      void reply.code(201).header('location', `${protocol}://${host}/connectors/${encodeURIComponent(params.name)}`)
    }
    return info
  })

  app.patch<ByName>('/connectors/:name/config', async (request) =>
    herder.patchConfig(request.params.name, parseConfigBody(request.body), viewOf(request)(request.params.name)),
  )

  app.get<ByName>('/connectors/:name/topics', async ({ params }) => ({
    [params.name]: { topics: herder.topics(params.name) },
  }))

  app.put<ByName>('/connectors/:name/topics/reset', async ({ params }, reply) => {
    await herder.resetTopics(params.name)
    return reply.code(202).send()
  })
}
