import type { FastifyInstance } from 'fastify'
import type { DecisionContext } from '../commands/decision-types.ts'
import { decideDeleteSubject } from '../commands/delete-schema.ts'
import { schemaNotFound, subjectNotFound } from '../model/registry-error.ts'
import { ALL_CONTEXTS } from '../model/subject.ts'
import { DELETE_SUBJECT_MESSAGES } from '../model/write-error-messages.ts'
import { lookUpSchema } from '../queries/schema-lookup.ts'
import { findByMetadata, findInAnyContext, findSubjects, matchesVersionFilter } from '../queries/schema-search.ts'
import { booleanParameter, paginate, stringParameters } from './parse-request.ts'
import { queryOf, type RouteContext, versionFilterIn } from './route-context.ts'
import { toSchemaResponse } from './schema-response.ts'

/** `/subjects`: lists and deletes subjects, and looks up a schema under a subject. */
export function subjectRoutes(app: FastifyInstance, route: RouteContext): void {
  app.get('/subjects', { config: { metric: 'subjects.list' } }, async (request) => {
    const query = queryOf(request)
    const subjects = findSubjects(route.view, route.prefix(request, ALL_CONTEXTS), versionFilterIn(query))
    return paginate(subjects.filter(route.readable(request)), query, route.limits('subject'))
  })

  app.post('/subjects/:subject', { config: { metric: 'subjects.get-schema' } }, async (request) => {
    route.markCacheable(request)
    const query = queryOf(request)
    const { schema } = await route.readSchemaBody(request, route.subject(request))
    const options = { normalize: booleanParameter(query, 'normalize'), deleted: booleanParameter(query, 'deleted') }
    const found = await route.registry.withDecisionContext((context) =>
      findInAnyContext(route.view, route.subject(request), route.permits(request), (subject) =>
        lookUpSchema(context, subject, schema, options),
      ),
    )
    return toSchemaResponse(found, await route.responseOptions(request, found))
  })

  app.delete('/subjects/:subject', { config: { metric: 'subjects.delete-subject' } }, async (request, reply) => {
    const subject = route.subject(request)
    const permanent = booleanParameter(queryOf(request), 'permanent')
    const decide = (context: DecisionContext) => decideDeleteSubject(context, subject, permanent)
    return route.write(request, reply, { operation: DELETE_SUBJECT_MESSAGES, decide })
  })

  app.get(
    '/subjects/:subject/metadata',
    { config: { metric: 'subjects.get-latest-with-metadata' } },
    async (request) => {
      const query = queryOf(request)
      const subject = route.subject(request)
      const which = versionFilterIn(query)
      if (!route.view.versions(subject).some(matchesVersionFilter(which))) throw subjectNotFound(subject)
      const values = stringParameters(query, 'value')
      const properties = stringParameters(query, 'key').map((key, at) => [key, values[at] ?? ''] as const)
      const found = findByMetadata(route.view, subject, properties, which)
      if (!found) throw schemaNotFound()
      return toSchemaResponse(found, await route.responseOptions(request, found))
    },
  )
}
