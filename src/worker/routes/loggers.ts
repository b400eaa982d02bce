import type { FastifyInstance } from 'fastify'
import { WorkerError } from '../model/worker-error.ts'
import { type LogLevels, parseLevel } from '../observability/log-levels.ts'
import { parseLevelBody } from './parse-body.ts'

export type LoggerRoutes = {
  readonly levels: LogLevels
  readonly nowMs: () => number
  /** Sets the level on every worker of the group, including this one. */
  readonly setEverywhere: (logger: string, level: string) => Promise<void>
}

type ByLogger = { Params: { logger: string }; Querystring: { scope?: string } }

/** The routes of `/admin/loggers`, which read and set log levels of this worker or of the whole group. */
export function loggerRoutes(app: FastifyInstance, { levels, nowMs, setEverywhere }: LoggerRoutes): void {
  app.get('/admin/loggers', async () => levels.list())

  app.get<ByLogger>('/admin/loggers/:logger', async ({ params }) => {
    const level = levels.get(params.logger)
    if (level) return level
    throw new WorkerError('logger_not_found', `Logger ${params.logger} not found.`)
  })

  app.put<ByLogger>('/admin/loggers/:logger', async ({ params, query, body }, reply) => {
    const written = parseLevelBody(body)
    const level = parseLevel(written)
    if (!level) throw new WorkerError('level_not_found', `invalid log level '${written}'.`)
    if (query.scope?.toLowerCase() !== 'cluster') return levels.set(params.logger, level, nowMs())
    await setEverywhere(params.logger, level)
    return reply.code(204).send()
  })
}
