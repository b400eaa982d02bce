import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from '../../http/endpoint.ts'
import type { ConnectorPreview } from '../preview/connector-preview.ts'
import { parseConfigBody, parseObject, refuseUnknown } from './request-bodies.ts'

const body = z.unknown().transform((value) => {
  const request = parseObject(value, 'the request body')
  refuseUnknown(request, ['config'])
  return parseConfigBody(request['config'], "'config'")
})

/** What a configuration that is not saved yet makes of records. It resolves placeholders and shows records, and needs both permissions. */
export function connectorPreviewRoutes(app: FastifyInstance, preview: ConnectorPreview): void {
  addEndpoint(app, {
    method: 'POST',
    url: '/ui/api/connectors/:name/preview',
    permission: { operation: 'write', on: 'connector' },
    body,
    hasWrittenNumbers: true,
    response: { 200: z.unknown() },
    handler: async (request, reply) => {
      const { params, body: config, rights } = request
      const report = await preview.preview(params.name, config, rights.forKind('topics'), (topics) => {
        request.readTopics = topics
      })
      return reply.header('cache-control', 'no-store').send(report)
    },
  })
}
