import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint, noContent } from '../../http/endpoint.ts'
import type { Herder } from '../herder/herder.ts'
import type { ConfigViewOf } from './config-view.ts'
import { connectorState, task, taskStatus } from './entities.ts'

const taskInPath = z.object({ name: z.string(), task: z.coerce.number<string>().int() })
const flag = (description: string) =>
  z.preprocess((value) => String(value).toLowerCase() === 'true', z.boolean()).meta({ description, default: false })

/** The routes for the status of connectors and tasks, and to pause, resume, stop and restart them. */
export function lifecycleRoutes(app: FastifyInstance, herder: Herder, viewOf: ConfigViewOf): void {
  addEndpoint(app, {
    method: 'GET',
    url: '/connectors/:name/status',
    summary: 'Returns the states of a connector and its tasks',
    permission: { operation: 'read', on: 'connector' },
    response: { 200: connectorState },
    errors: ['connector_not_found', 'status_not_found'],
    handler: async ({ params }) => herder.status(params.name),
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/connectors/:name/tasks',
    summary: 'Lists the tasks of a connector with their configurations',
    permission: { operation: 'read', on: 'connector' },
    response: { 200: z.array(task) },
    errors: ['connector_not_found'],
    handler: async (request) => herder.tasks(request.params.name, viewOf(request)(request.params.name)),
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/connectors/:name/tasks/:task(^-?\\d+$)/status',
    summary: 'Returns the state of a task',
    permission: { operation: 'read', on: 'connector' },
    params: taskInPath,
    response: { 200: taskStatus },
    errors: ['status_not_found'],
    handler: async ({ params }) => herder.taskStatus({ connector: params.name, task: params.task }),
  })

  for (const [verb, target, summary] of [
    ['pause', 'PAUSED', 'Pauses a connector and its tasks'],
    ['resume', 'STARTED', 'Resumes a paused or stopped connector'],
  ] as const) {
    addEndpoint(app, {
      method: 'PUT',
      url: `/connectors/:name/${verb}`,
      summary,
      permission: { operation: 'lifecycle', on: 'connector' },
      response: { 202: noContent },
      errors: ['connector_not_found'],
      handler: async ({ params }, reply) => {
        await herder.setTarget(params.name, target)
        return reply.code(202).send()
      },
    })
  }

  addEndpoint(app, {
    method: 'PUT',
    url: '/connectors/:name/stop',
    summary: 'Stops a connector: ends its tasks and keeps its configuration and offsets',
    permission: { operation: 'lifecycle', on: 'connector' },
    response: { 204: noContent },
    errors: ['connector_not_found', 'rebalancing'],
    handler: async ({ params }, reply) => {
      await herder.setTarget(params.name, 'STOPPED')
      return reply.code(204).send()
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: '/connectors/:name/restart',
    summary: 'Restarts a connector',
    permission: { operation: 'lifecycle', on: 'connector' },
    querystring: z.object({
      includeTasks: flag('Whether to restart the tasks of the connector as well.'),
      onlyFailed: flag('Whether to restart only instances that have failed.'),
    }),
    response: { 202: connectorState, 204: noContent },
    errors: ['connector_not_found', 'rebalancing', 'start_failed'],
    handler: async ({ params, query }, reply) => {
      const status = await herder.restart(params.name, query)
      return status ? reply.code(202).send(status) : reply.code(204).send()
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: '/connectors/:name/tasks/:task(^-?\\d+$)/restart',
    summary: 'Restarts a task',
    permission: { operation: 'lifecycle', on: 'connector' },
    params: taskInPath,
    response: { 204: noContent },
    errors: ['connector_not_found', 'task_not_found', 'rebalancing', 'start_failed'],
    handler: async ({ params }, reply) => {
      await herder.restartTask({ connector: params.name, task: params.task })
      return reply.code(204).send()
    },
  })
}
