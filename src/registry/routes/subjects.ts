import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from '../../http/endpoint.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import { decideDeleteSubject } from '../commands/delete-schema.ts'
import { schemaNotFound, subjectNotFound } from '../model/registry-error.ts'
import { ALL_CONTEXTS } from '../model/subject.ts'
import { DELETE_SUBJECT_MESSAGES } from '../model/write-error-messages.ts'
import { lookUpInAnyContext } from '../queries/schema-lookup.ts'
import { findByMetadata, findSubjects, matchesVersionFilter } from '../queries/schema-search.ts'
import { schema } from './entities.ts'
import { paginate, query, versionFilter } from './query-parameters.ts'
import { schemaBody } from './request-bodies.ts'
import type { RouteContext } from './route-context.ts'
import { toSchemaResponse } from './schema-response.ts'

/** `/subjects`: lists and deletes subjects, and looks up a schema under a subject. */
export function subjectRoutes(app: FastifyInstance, route: RouteContext): void {
  addEndpoint(app, {
    method: 'GET',
    url: '/subjects',
    summary: 'Lists the subjects',
    permission: { operation: 'read', on: 'any' },
    metric: 'subjects.list',
    querystring: query('subjectPrefix', 'deleted', 'deletedOnly', 'offset', 'limit'),
    response: { 200: z.array(z.string()) },
    handler: async (request) => {
      const { subjectPrefix, ...filter } = request.query
      const prefix = route.prefix(request, subjectPrefix, ALL_CONTEXTS)
      const subjects = findSubjects(route.view, prefix, versionFilter(filter))
      return paginate(subjects.filter(route.readable(request)), filter, route.limits('subject'))
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: '/subjects/:subject',
    summary: 'Looks up a schema under a subject',
    permission: { operation: 'read', on: 'subject' },
    metric: 'subjects.get-schema',
    querystring: query('normalize', 'deleted', 'format', 'findTags', 'referenceFormat'),
    body: schemaBody,
    response: { 200: schema },
    errors: ['subject_not_found', 'schema_not_found', 'invalid_schema'],
    handler: async (request) => {
      const { normalize, deleted } = request.query
      await route.prepareSchema(request, route.subject(request), request.body)
      const found = await route.registry.withDecisionContext((context) =>
        lookUpInAnyContext(context, route.subject(request), route.permits(request), request.body.schema, {
          normalize,
          deleted,
        }),
      )
      return toSchemaResponse(found, await route.responseOptions(request, found, request.query))
    },
  })

  addEndpoint(app, {
    method: 'DELETE',
    url: '/subjects/:subject',
    summary: 'Deletes a subject and returns the numbers of its deleted versions',
    permission: { operation: 'delete', on: 'subject' },
    metric: 'subjects.delete-subject',
    querystring: query('permanent'),
    response: { 200: z.array(z.number().int()) },
    errors: [
      'subject_not_found',
      'subject_soft_deleted',
      'subject_not_soft_deleted',
      'association_for_subject_exists',
      'not_permitted',
      'reference_exists',
    ],
    handler: async (request, reply) => {
      const subject = route.subject(request)
      const { permanent } = request.query
      return route.write(request, reply, {
        operation: DELETE_SUBJECT_MESSAGES,
        decide: (context: DecisionContext) => decideDeleteSubject(context, subject, permanent),
        answer: (versions) => versions,
      })
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/subjects/:subject/metadata',
    summary: 'Returns the latest version with these metadata properties',
    permission: { operation: 'read', on: 'subject' },
    metric: 'subjects.get-latest-with-metadata',
    querystring: query('key', 'value', 'deleted', 'deletedOnly', 'format', 'findTags', 'referenceFormat'),
    response: { 200: schema },
    errors: ['subject_not_found', 'schema_not_found'],
    handler: async (request) => {
      const { key, value } = request.query
      const subject = route.subject(request)
      const which = versionFilter(request.query)
      if (!route.view.versions(subject).some(matchesVersionFilter(which))) throw subjectNotFound(subject)
      const properties = key.map((name, at) => [name, value[at] ?? ''] as const)
      const found = findByMetadata(route.view, subject, properties, which)
      if (!found) throw schemaNotFound()
      return toSchemaResponse(found, await route.responseOptions(request, found, request.query))
    },
  })
}
