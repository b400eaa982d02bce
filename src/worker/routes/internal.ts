import type { FastifyInstance } from 'fastify'
import type { RawConfig } from '../../sdk/index.ts'
import type { LeaderDuties } from '../herder/leader-duties.ts'
import { verifySignature } from '../membership/request-signature.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { SessionKey } from '../stores/config-codec.ts'
import { parseConfigBody } from './parse-body.ts'

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

    inner.post<ByName>('/connectors/:name/tasks', async ({ params, body }, reply) => {
      await leader.putTasks(params.name, parseTasks(body))
      return reply.code(204).send()
    })

    inner.put<ByName>('/connectors/:name/fence', async ({ params }, reply) => {
      await leader.fenceZombieSourceTasks(params.name)
      return reply.code(204).send()
    })
    done()
  })
}

function parseTasks(body: Buffer | undefined): readonly RawConfig[] {
  const tasks = JSON.parse(String(body ?? '')) as unknown
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
