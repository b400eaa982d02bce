import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { contextOf, DEFAULT_CONTEXT } from '../../formats/qualified-subject.ts'
import { addEndpoint, noContent } from '../../http/endpoint.ts'
import type { Decision, DecisionContext } from '../commands/decision-types.ts'
import { contextNotEmpty } from '../model/registry-error.ts'
import { contextSubject } from '../model/subject.ts'
import { DELETE_CONTEXT_MESSAGES } from '../model/write-error-messages.ts'
import { paginate, query } from './query-parameters.ts'
import type { RouteContext } from './route-context.ts'

/** `/contexts`: lists the contexts and deletes an empty one. */
export function contextRoutes(app: FastifyInstance, route: RouteContext): void {
  addEndpoint(app, {
    method: 'GET',
    url: '/contexts',
    summary: 'Lists the contexts',
    permission: { operation: 'read', on: 'any' },
    metric: 'contexts.list',
    querystring: query('contextPrefix', 'offset', 'limit'),
    response: { 200: z.array(z.string()) },
    handler: async (request) => {
      const { contextPrefix = '', ...page } = request.query
      const isKnown = readableContexts(route, request)
      const contexts = route.view.contexts().filter((context) => context.startsWith(contextPrefix) && isKnown(context))
      return paginate(contexts, page, route.limits('context'))
    },
  })

  addEndpoint(app, {
    method: 'DELETE',
    url: '/contexts/:context',
    summary: 'Deletes an empty context',
    permission: { operation: 'harddelete', on: 'context' },
    metric: 'contexts.delete',
    response: { 204: noContent },
    errors: ['context_not_empty'],
    handler: async (request, reply) => {
      const context = route.context(request)
      const decide = ({ view }: DecisionContext): Decision<undefined> => {
        if (view.isInUse(context)) throw contextNotEmpty(context)
        return { records: [{ kind: 'context', context, known: false }], answer: undefined }
      }
      return route.write(request, reply, {
        operation: DELETE_CONTEXT_MESSAGES,
        decide,
        answer: () => reply.code(204).send(),
      })
    },
  })
}

/** The contexts that the principal may read as a whole, or in which it may read at least one subject. */
function readableContexts(route: RouteContext, request: FastifyRequest): (context: string) => boolean {
  if (request.rights.allowsAll('read')) return () => true
  const isReadable = route.readable(request)
  const known = new Set([...route.view.subjects()].filter(isReadable).map(contextOf))
  return (context) => {
    const whole = contextSubject(context)
    return context === DEFAULT_CONTEXT || known.has(context) || (whole !== null && isReadable(whole))
  }
}
