import type { FastifyInstance } from 'fastify'
import type { DecisionContext } from '../commands/decision.ts'
import { decideDeleteSubject } from '../commands/delete.ts'
import { DELETE_SUBJECT } from '../commands/write-operation.ts'
import { schemaNotFound, subjectNotFound } from '../model/registry-error.ts'
import { ALL_CONTEXTS } from '../model/subject.ts'
import { lookUp } from '../queries/schema-lookup.ts'
import { findByMetadata, findSubjects, inAnyContext, takesPart } from '../queries/schema-search.ts'
import { schemaAnswer } from './answer.ts'
import { type Api, queryOf, whichIn } from './api.ts'
import { flag, page, texts } from './request.ts'

/** `/subjects`: which there are, where a schema is registered, and their end. */
export function subjectRoutes(app: FastifyInstance, api: Api): void {
  app.get('/subjects', { config: { metric: 'subjects.list' } }, async (request) => {
    const query = queryOf(request)
    const subjects = findSubjects(api.view, api.prefix(request, ALL_CONTEXTS), whichIn(query))
    return page(subjects.filter(api.readable(request)), query, api.limits('subject'))
  })

  app.post('/subjects/:subject', { config: { metric: 'subjects.get-schema' } }, async (request) => {
    api.tellsState(request)
    const query = queryOf(request)
    const { schema } = await api.sent(request, api.subject(request))
    const options = { normalize: flag(query, 'normalize'), deleted: flag(query, 'deleted') }
    const found = await api.registry.think((grounds) =>
      inAnyContext(api.view, api.subject(request), api.permits(request), (subject) =>
        lookUp(grounds, subject, schema, options),
      ),
    )
    return schemaAnswer(found, await api.written(request, found))
  })

  app.delete('/subjects/:subject', { config: { metric: 'subjects.delete-subject' } }, async (request, reply) => {
    const subject = api.subject(request)
    const permanent = flag(queryOf(request), 'permanent')
    const decide = (grounds: DecisionContext) => decideDeleteSubject(grounds, subject, permanent)
    return api.write(request, reply, { operation: DELETE_SUBJECT, decide })
  })

  app.get(
    '/subjects/:subject/metadata',
    { config: { metric: 'subjects.get-latest-with-metadata' } },
    async (request) => {
      const query = queryOf(request)
      const subject = api.subject(request)
      const which = whichIn(query)
      if (!api.view.versions(subject).some(takesPart(which))) throw subjectNotFound(subject)
      const values = texts(query, 'value')
      const properties = texts(query, 'key').map((key, at) => [key, values[at] ?? ''] as const)
      const found = findByMetadata(api.view, subject, properties, which)
      if (!found) throw schemaNotFound()
      return schemaAnswer(found, await api.written(request, found))
    },
  )
}
