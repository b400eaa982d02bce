import type { FastifyInstance } from 'fastify'
import type { Worker } from '../worker.ts'
import { parseConfigBody, parseCreateBody } from './bodies.ts'

type ByName = { Params: { name: string } }

/** `/connectors`: what there is and how it is configured. */
export function connectorRoutes(app: FastifyInstance, worker: Worker): void {
  app.get<{ Querystring: { expand?: string | string[] } }>('/connectors', async ({ query, rights }) => {
    const isReadable = (name: string) => rights.may('read', name)
    if (query.expand === undefined) return worker.names().filter(isReadable)
    const expand = [query.expand].flat()
    const expanded = worker.expanded({ info: expand.includes('info'), status: expand.includes('status') })
    return Object.fromEntries(Object.entries(expanded).filter(([name]) => isReadable(name)))
  })

  app.post('/connectors', async ({ body, protocol, host }, reply) => {
    const { name, config, target } = parseCreateBody(body)
    const info = await worker.create(name, config, target)
    void reply.code(201).header('location', `${protocol}://${host}/connectors/${encodeURIComponent(name)}`)
    return info
  })

  app.get<ByName>('/connectors/:name', async ({ params }) => worker.info(params.name))

  app.delete<ByName>('/connectors/:name', async ({ params }, reply) => {
    await worker.delete(params.name)
    return reply.code(204).send()
  })

  app.get<ByName>('/connectors/:name/config', async ({ params }) => worker.config(params.name))

  app.put<ByName>('/connectors/:name/config', async ({ params, body, protocol, host }, reply) => {
    const { created, info } = await worker.putConfig(params.name, parseConfigBody(body))
    if (created) {
      void reply.code(201).header('location', `${protocol}://${host}/connectors/${encodeURIComponent(params.name)}`)
    }
    return info
  })

  app.patch<ByName>('/connectors/:name/config', async ({ params, body }) =>
    worker.patchConfig(params.name, parseConfigBody(body)),
  )

  app.get<ByName>('/connectors/:name/topics', async ({ params }) => ({
    [params.name]: { topics: worker.topics(params.name) },
  }))

  app.put<ByName>('/connectors/:name/topics/reset', async ({ params }, reply) => {
    await worker.resetTopics(params.name)
    return reply.code(202).send()
  })
}
