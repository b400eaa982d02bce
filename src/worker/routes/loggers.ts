import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint, noContent } from '../../http/endpoint.ts'
import { WorkerError } from '../model/worker-error.ts'
import { type LogLevels, parseLevel } from '../observability/log-levels.ts'
import { loggerLevel } from './entities.ts'
import { levelBody } from './request-bodies.ts'

export type LoggerRoutes = {
  readonly levels: LogLevels
  readonly nowMs: () => number
  /** Sets the level on every worker of the group, including this one. */
  readonly setEverywhere: (logger: string, level: string) => Promise<void>
}

/** The routes of `/admin/loggers`, which read and set log levels of this worker or of the whole group. */
export function loggerRoutes(app: FastifyInstance, { levels, nowMs, setEverywhere }: LoggerRoutes): void {
  addEndpoint(app, {
    method: 'GET',
    url: '/admin/loggers',
    summary: 'Lists the loggers with their levels',
    permission: { operation: 'read', on: 'any' },
    response: { 200: z.record(z.string(), loggerLevel) },
    handler: async () => levels.list(),
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/admin/loggers/:logger',
    summary: 'Returns the level of a logger',
    permission: { operation: 'read', on: 'any' },
    response: { 200: loggerLevel },
    errors: ['logger_not_found'],
    handler: async ({ params }) => {
      const level = levels.get(params.logger)
      if (level) return level
      throw new WorkerError('logger_not_found', `Logger ${params.logger} not found.`)
    },
  })

  addEndpoint(app, {
    method: 'PUT',
    url: '/admin/loggers/:logger',
    summary: 'Sets the level of a logger and of all loggers below it. Returns the names of the changed loggers',
    permission: { operation: 'loggers', on: 'all' },
    querystring: z.object({
      scope: z
        .unknown()
        .meta({
          description: '`worker`: this worker only. `cluster`: all workers of the group.',
          enum: ['worker', 'cluster'],
        })
        .optional(),
    }),
    body: levelBody,
    response: { 200: z.array(z.string()), 204: noContent },
    errors: ['level_not_found', 'invalid_request'],
    handler: async ({ params, query, body }, reply) => {
      const level = parseLevel(body)
      if (!level) throw new WorkerError('level_not_found', `invalid log level '${body}'.`)
      if (String(query.scope).toLowerCase() !== 'cluster') return levels.set(params.logger, level, nowMs())
      await setEverywhere(params.logger, level)
      return reply.code(204).send()
    },
  })
}
