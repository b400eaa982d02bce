import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { permissionOf } from '../../http/endpoint.ts'
import { HttpError } from '../../http/http-error.ts'
import type { Viewer } from '../console/viewer.ts'
import { type IdentifyViewer, TooManyReviewsError } from '../console/viewer.ts'

const PROXIED = '/ui/runtimes/'
const BEARER = /^Bearer +([^\s]{1,20000}) *$/i
/** By this realm the page distinguishes a 401 of the operator from one of a runtime, which has no such header here. */
const CHALLENGE = 'Bearer realm="kubernetes"'

declare module 'fastify' {
  interface FastifyRequest {
    /** The user of the console. Undefined if users are not identified: everybody may do everything. */
    viewer: Viewer | undefined
  }
}

/**
 * Requires a Kubernetes token. In requests that are passed on to a runtime, `authorization` belongs to the runtime, and the
 * token is in `kubernetes-authorization`, which is not passed on. Must be called before routes are added.
 */
export function authorizeViewers(app: FastifyInstance, identify: IdentifyViewer | undefined): void {
  app.decorateRequest('viewer', undefined)
  if (identify === undefined) return
  const authorizeViewer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const route = request.routeOptions.url
    if (route === undefined || permissionOf(request) === 'public') return
    const { authorization, 'kubernetes-authorization': own } = request.headers
    const token = BEARER.exec(String((route.startsWith(PROXIED) ? own : authorization) ?? ''))?.[1]
    const viewer = token === undefined ? undefined : await identified(identify, token)
    if (viewer === undefined) {
      void reply.header('www-authenticate', CHALLENGE)
      throw new HttpError(
        401,
        token === undefined
          ? 'the console of the operator needs a Kubernetes token, such as that of: kubectl create token NAME'
          : 'the API server does not accept the Kubernetes token: it has expired, or is for another cluster or audience',
      )
    }
    request.viewer = viewer
    request.principal = { name: viewer.name, role: 'admin', groups: [], method: 'bearer' }
    request.reauthorize = authorizeViewer
  }
  app.addHook('onRequest', authorizeViewer)
}

async function identified(identify: IdentifyViewer, token: string): Promise<Viewer | undefined> {
  try {
    return await identify(token)
  } catch (error) {
    throw asUnavailable(error)
  }
}

/** Denies access if the API server cannot check the permission. */
export function asUnavailable(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return error instanceof TooManyReviewsError
    ? new HttpError(503, reason)
    : new HttpError(503, `the API server cannot check the permission: ${reason}`)
}
