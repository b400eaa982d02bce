import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from '../../http/endpoint.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { Herder } from '../herder/herder.ts'

const texts = z.record(z.string(), z.string())

/**
 * The topics that each connector has used, in one response: the REST API of Kafka Connect needs a request for each connector. Which
 * subjects belong to them depends on the worker's converters, for connectors without their own.
 */
export function connectorTopicRoutes(app: FastifyInstance, herder: Herder, converterDefaults: RawConfig): void {
  const defaultConverters = publicConverters(converterDefaults)
  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/connector-topics',
    permission: { operation: 'read', on: 'any' },
    response: { 200: z.object({ topics: z.record(z.string(), z.array(z.string())), defaultConverters: texts }) },
    handler: async ({ rights }, reply) => {
      const readable = herder.names().filter((name) => rights.allows('read', name))
      void reply.header('cache-control', 'no-store')
      return { topics: Object.fromEntries(readable.map((name) => [name, [...herder.topics(name)]])), defaultConverters }
    },
  })
}

/** What the subjects of topics depend on: no credentials, and of a registry's URL the context only. */
export function publicConverters(defaults: RawConfig): Readonly<Record<string, string>> {
  const keys = ['key', 'value'].flatMap((side) => [
    `${side}.converter`,
    `${side}.converter.${side}.subject.name.strategy`,
    `${side}.converter.schema.registry.url`,
  ])
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = defaults[key] ?? ''
      const shown = key.endsWith('.url') ? (/\/contexts\/\.[^/]+/.exec(value)?.[0] ?? '') : value
      return shown === '' ? [] : [[key, shown]]
    }),
  )
}
