import type { FastifyInstance } from 'fastify'
import { isRejection } from '../../broker/broker-error.ts'
import { jsonTextOf, parseWrittenJson } from '../../common/written-json.ts'
import { addEndpoint, noContent } from '../../http/endpoint.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { LeaderDuties } from '../herder/leader-duties.ts'
import { verifySignature } from '../membership/request-signature.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { SessionKey } from '../stores/config-codec.ts'
import { parseConfigBody } from './request-bodies.ts'

export type InternalRoutesOptions = {
  readonly leader: LeaderDuties
  /** Whether the group's protocol requires signed requests between workers. */
  readonly requiresSignature: () => boolean
  /** Whether unsigned requests are rejected even if the protocol does not require signatures. */
  readonly rejectsUnsigned: boolean
  readonly sessionKey: () => SessionKey | undefined
  readonly algorithms: readonly string[]
}

type ByName = { Params: { name: string }; Body: Buffer | undefined }

/** The internal routes, through which workers send requests to the leader of the group. */
export function internalRoutes(app: FastifyInstance, options: InternalRoutesOptions): void {
  const { leader, requiresSignature, rejectsUnsigned, sessionKey, algorithms } = options
  void app.register((inner, _, done) => {
    // The signature covers the raw bytes of the body.
    inner.removeAllContentTypeParsers()
    inner.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, body: string | Buffer) => body)
    inner.addHook<ByName>('preHandler', async ({ headers, body, principal }) => {
      // The access-control hook has already checked the permission of an authenticated user.
      if (principal === undefined && (requiresSignature() || rejectsUnsigned)) {
        verifySignature(headers, body ?? Buffer.alloc(0), sessionKey(), algorithms)
      }
    })

    addEndpoint(inner, {
      method: 'POST',
      url: '/connectors/:name/tasks',
      permission: { operation: 'internal', on: 'connector' },
      response: { 204: noContent },
      handler: async ({ params, body }, reply) => {
        await leader.putTasks(params.name, parseTasks(body as Buffer | undefined))
        return reply.code(204).send()
      },
    })

    addEndpoint(inner, {
      method: 'PUT',
      url: '/connectors/:name/fence',
      permission: { operation: 'internal', on: 'connector' },
      response: { 204: noContent },
      handler: async ({ params }, reply) => {
        await leader.fenceZombieSourceTasks(params.name).catch((error: unknown) => {
          if (isRejection(error)) throw new WorkerError('fencing_rejected', error.message, { cause: error })
          throw error
        })
        return reply.code(204).send()
      },
    })
    done()
  })
}

function parseTasks(body: Buffer | undefined): readonly RawConfig[] {
  const tasks = parseWrittenJson(jsonTextOf(body ?? Buffer.alloc(0)))
  if (!Array.isArray(tasks))
    throw new WorkerError(
      'invalid_request',
      'the request body is invalid: expected a JSON array of task configurations',
    )
  return tasks.map((task) => {
    const config = parseConfigBody(task, 'a task')
    return Object.fromEntries(Object.entries(config).map(([key, value]) => [key, value ?? '']))
  })
}
