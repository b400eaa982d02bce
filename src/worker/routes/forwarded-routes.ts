import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { PeerResponse } from '../membership/peer-client.ts'
import {
  forwardRequest,
  type RequestTarget,
  type WorkerRequestHandlerOptions,
} from '../membership/request-forwarding.ts'

type ForwardedRequest = FastifyRequest<{
  Params: { name?: string; task?: string }
  Querystring: { forward?: string; includeTasks?: string; onlyFailed?: string }
}>

const leader = (): RequestTarget => 'leader'

/** Routes that only a certain worker can handle. All other requests are handled by the worker that receives them. */
const TARGETS: Readonly<Record<string, (request: ForwardedRequest) => RequestTarget>> = {
  'POST /connectors': leader,
  'PUT /connectors/:name/config': leader,
  'PATCH /connectors/:name/config': leader,
  'DELETE /connectors/:name': leader,
  'PUT /connectors/:name/stop': leader,
  'PATCH /connectors/:name/offsets': leader,
  'DELETE /connectors/:name/offsets': leader,
  'POST /connectors/:name/restart': ({ params, query }) =>
    [query.includeTasks, query.onlyFailed].some((flag) => flag?.toLowerCase() === 'true')
      ? 'leader'
      : { owner: params.name ?? '' },
  'POST /connectors/:name/tasks/:task(^-?\\d+$)/restart': ({ params }) => ({
    owner: { connector: params.name ?? '', task: Number(params.task) },
  }),
}

const HOPS: Readonly<Record<string, 'first' | 'second' | 'last'>> = { true: 'second', false: 'last' }

/** Forwards requests to the worker that must handle them, with their bodies as they were received. */
export function addForwarding(app: FastifyInstance, options: WorkerRequestHandlerOptions): void {
  app.addHook('preValidation', async (request, reply) => {
    const forwarded = request as ForwardedRequest
    const target = TARGETS[`${request.method} ${request.routeOptions.url}`]?.(forwarded)
    if (target === undefined) return
    const response = await forwardRequest(options, target, request, HOPS[forwarded.query.forward ?? ''] ?? 'first')
    if (response) return send(request, reply, response)
  })
}

function send(request: FastifyRequest, reply: FastifyReply, { status, location, text }: PeerResponse): FastifyReply {
  void reply.code(status)
  if (location !== null) void reply.header('location', `${request.protocol}://${request.host}${pathOf(location)}`)
  return text === '' ? reply.send() : reply.type('application/json').send(text)
}

function pathOf(location: string): string {
  return new URL(location, 'http://localhost').pathname
}
