import type { FastifyInstance } from 'fastify'
import type { Decision, Grounds } from '../decision.ts'
import { contextNotEmpty } from '../failure.ts'
import { DELETE_CONTEXT } from '../operation.ts'
import { type Api, contextIn, queryOf } from './api.ts'
import { page, text } from './request.ts'

/** `/contexts`: which there are, and the end of an empty one. */
export function contextRoutes(app: FastifyInstance, api: Api): void {
  app.get('/contexts', { config: { metric: 'contexts.list' } }, async (request) => {
    const query = queryOf(request)
    const prefix = text(query, 'contextPrefix') ?? ''
    const contexts = api.view.contexts().filter((context) => context.startsWith(prefix))
    return page(contexts, query, api.limits('context'))
  })

  app.delete('/contexts/:context', { config: { metric: 'contexts.delete' } }, async (request, reply) => {
    const context = contextIn(request)
    const decide = ({ view }: Grounds): Decision<undefined> => {
      if (view.isInUse(context)) throw contextNotEmpty(context)
      return { records: [{ kind: 'context', context, known: false }], answer: undefined }
    }
    return api.write(request, reply, { operation: DELETE_CONTEXT, decide, answer: () => reply.code(204).send() })
  })
}
