import type { FastifyInstance } from 'fastify'
import type { Herder } from '../herder/herder.ts'
import type { ConfigViewOf } from './config-view.ts'

type ByName = { Params: { name: string } }
type ByTask = { Params: { name: string; task: string } }
type Restart = ByName & { Querystring: { includeTasks?: string; onlyFailed?: string } }

/** The routes for the status of connectors and tasks, and to pause, resume, stop and restart them. */
export function lifecycleRoutes(app: FastifyInstance, herder: Herder, viewOf: ConfigViewOf): void {
  app.get<ByName>('/connectors/:name/status', async ({ params }) => herder.status(params.name))

  app.get<ByName>('/connectors/:name/tasks', async (request) =>
    herder.tasks(request.params.name, viewOf(request)(request.params.name)),
  )

  app.get<ByTask>('/connectors/:name/tasks/:task(^-?\\d+$)/status', async ({ params }) =>
    herder.taskStatus({ connector: params.name, task: Number(params.task) }),
  )

  for (const [verb, target] of [
    ['pause', 'PAUSED'],
    ['resume', 'STARTED'],
  ] as const) {
    app.put<ByName>(`/connectors/:name/${verb}`, async ({ params }, reply) => {
      await herder.setTarget(params.name, target)
      return reply.code(202).send()
    })
  }

  app.put<ByName>('/connectors/:name/stop', async ({ params }, reply) => {
    await herder.setTarget(params.name, 'STOPPED')
    return reply.code(204).send()
  })

  app.post<Restart>('/connectors/:name/restart', async ({ params, query }, reply) => {
    const flags = { includeTasks: isTrue(query.includeTasks), onlyFailed: isTrue(query.onlyFailed) }
    const status = await herder.restart(params.name, flags)
    return status ? reply.code(202).send(status) : reply.code(204).send()
  })

  app.post<ByTask>('/connectors/:name/tasks/:task(^-?\\d+$)/restart', async ({ params }, reply) => {
    await herder.restartTask({ connector: params.name, task: Number(params.task) })
    return reply.code(204).send()
  })
}

function isTrue(flag: string | undefined): boolean {
  return flag?.toLowerCase() === 'true'
}
