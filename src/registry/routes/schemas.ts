import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { SCHEMA_TYPES } from '../../formats/load-format.ts'
import { contextOf } from '../../formats/qualified-subject.ts'
import { addEndpoint } from '../../http/endpoint.ts'
import { streamJsonList } from '../../http/json-list.ts'
import type { StoredAssociation } from '../model/association.ts'
import type { SchemaVersion } from '../model/schema.ts'
import type { Subject } from '../model/subject.ts'
import { associationsOfSubject } from '../queries/association-search.ts'
import {
  findByGuid,
  findById,
  findSubjects,
  findVersionsById,
  hasRule,
  matchesVersionFilter,
} from '../queries/schema-search.ts'
import { toAssociationResponse } from './association-response.ts'
import { listedSchema, schemaById, schemaText } from './entities.ts'
import { lifecycles, paginate, query, versionFilter } from './query-parameters.ts'
import { idInPath } from './request-bodies.ts'
import { paramsOf, type RouteContext } from './route-context.ts'
import { toSchemaByIdResponse, toSchemaResponse } from './schema-response.ts'

/**
 * In characters of all schema texts. Smaller lists are sent in one piece, with `content-length`, and can be compressed.
 */
const STREAMED_MIN = 1_000_000

const listQuery = query(
  'subjectPrefix',
  'aliases',
  'deleted',
  'deletedOnly',
  'latestOnly',
  'ruleType',
  'resourceType',
  'associationType',
  'offset',
  'limit',
).extend({ lifecycle: lifecycles })
type ListQuery = z.output<typeof listQuery>

/** `/schemas`: lists schemas, and returns a schema by ID or GUID. */
export function schemaRoutes(app: FastifyInstance, route: RouteContext): void {
  addEndpoint(app, {
    method: 'GET',
    url: '/schemas',
    summary: 'Lists schemas',
    permission: { operation: 'read', on: 'any' },
    metric: 'schemas.get-schemas',
    querystring: listQuery,
    response: { 200: z.array(listedSchema), 304: z.undefined() },
    handler: async (request, reply) => {
      if (route.isNotModified(request, reply)) return reply.code(304).send()
      const listed = paginate(listSchemas(route, request, request.query), request.query, route.limits('schema'))
      const answerOf = (version: SchemaVersion) => ({
        ...toSchemaResponse(version, { profile: route.profile }),
        ...(request.query.aliases ? aliases(route, request, version) : {}),
        ...associations(route, request.query, version),
      })
      const characters = listed.reduce((sum, { content }) => sum + content.text.length, 0)
      if (characters < STREAMED_MIN) return listed.map(answerOf)
      return reply.send(streamJsonList(listed.values().map(answerOf)))
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/schemas/types',
    summary: 'Lists the supported schema types',
    permission: 'authenticated',
    metric: 'schemas.get-types',
    response: { 200: z.array(z.string()) },
    handler: async () => SCHEMA_TYPES,
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/schemas/ids/:id',
    summary: 'Returns the schema with an ID',
    permission: { operation: 'read', on: 'any' },
    metric: 'schemas.ids.get-schema',
    params: idInPath,
    querystring: query('subject', 'format', 'referenceFormat', 'findTags', 'fetchMaxId'),
    response: { 200: schemaById },
    errors: ['schema_not_found', 'no_such_resource', 'invalid_schema'],
    handler: async (request) => {
      const { subject, fetchMaxId } = request.query
      const version = requestedSchema(route, request)
      return toSchemaByIdResponse(version, {
        ...(await route.responseOptions(request, version, request.query)),
        maxId: fetchMaxId ? route.view.idMax(contextOf(version.subject)) : undefined,
        // Confluent's registry handles a context in the path like a `subject` parameter.
        withSubject: subject !== undefined || paramsOf(request)['context'] !== undefined,
      })
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/schemas/ids/:id/schema',
    summary: 'Returns the text of the schema with an ID',
    permission: { operation: 'read', on: 'any' },
    metric: 'schemas.ids.get-schema.only',
    params: idInPath,
    querystring: query('subject', 'format'),
    response: { 200: schemaText },
    errors: ['schema_not_found', 'no_such_resource', 'invalid_schema'],
    handler: async (request, reply) => {
      const version = requestedSchema(route, request)
      const { text = version.content.text } = await route.responseOptions(request, version, request.query)
      return reply.type(request.responseType).send(text)
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/schemas/ids/:id/subjects',
    summary: 'Lists the subjects that have the schema with an ID',
    permission: { operation: 'read', on: 'any' },
    metric: 'schemas.get-subjects',
    params: idInPath,
    querystring: query('subject', 'deleted', 'deletedOnly', 'offset', 'limit'),
    response: { 200: z.array(z.string()) },
    errors: ['schema_not_found', 'no_such_resource'],
    handler: async (request) => {
      const subjects = versionsWithId(route, request).map(({ subject }) => subject)
      return paginate(new Set(subjects), request.query, route.limits('subject'))
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/schemas/ids/:id/versions',
    summary: 'Lists the versions that have the schema with an ID',
    permission: { operation: 'read', on: 'any' },
    metric: 'schemas.get-versions',
    params: idInPath,
    querystring: query('subject', 'deleted', 'deletedOnly', 'offset', 'limit'),
    response: { 200: z.array(z.object({ subject: z.string(), version: z.number().int() })) },
    errors: ['schema_not_found', 'no_such_resource'],
    handler: async (request) => {
      const versions = versionsWithId(route, request).map(({ subject, version }) => ({ subject, version }))
      return paginate(versions, request.query, route.limits('subject.version'))
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/schemas/guids/:guid',
    summary: 'Returns the schema with a GUID',
    permission: { operation: 'read', on: 'any' },
    metric: 'schemas.guids.get-schema',
    querystring: query('format', 'findTags', 'referenceFormat'),
    response: { 200: schemaById },
    errors: ['schema_not_found', 'invalid_schema'],
    handler: async (request, reply) => {
      const [version] = versionsWithGuid(route, request, request.params.guid)
      if (version === undefined) return reply.send()
      const options = await route.responseOptions(request, version, request.query)
      return toSchemaByIdResponse(version, { ...options, maxId: undefined, withSubject: false })
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/schemas/guids/:guid/ids',
    summary: 'Lists the IDs of the schema with a GUID, one for each context',
    permission: { operation: 'read', on: 'any' },
    metric: 'schemas.guids.get-ids',
    response: { 200: z.array(z.object({ context: z.string(), id: z.number().int() })) },
    errors: ['schema_not_found'],
    handler: async (request) => {
      const versions = versionsWithGuid(route, request, request.params.guid)
      return versions.map(({ subject, id }) => ({ context: contextOf(subject), id }))
    },
  })
}

/** The versions are created as they are requested, because a page has few of them. */
function listSchemas(route: RouteContext, request: FastifyRequest, query: ListQuery): Iterable<SchemaVersion> {
  const { subjectPrefix, latestOnly, ruleType } = query
  const which = versionFilter(query)
  const subjects = findSubjects(route.view, route.prefix(request, subjectPrefix, ''), which)
    .filter(route.readable(request))
    .filter((subject) => matchingAssociations(route, query, subject) !== undefined)
  return subjects.values().flatMap((subject) => {
    const versions = route.view.versions(subject).filter(matchesVersionFilter(which))
    const wanted = latestOnly ? versions.slice(-1) : versions
    return ruleType === undefined ? wanted : wanted.filter((version) => hasRule(version, ruleType))
  })
}

function aliases(route: RouteContext, request: FastifyRequest, { subject }: SchemaVersion) {
  const names = route.view.aliasesOf(subject).filter(route.readable(request))
  return names.length === 0 ? {} : { aliases: names }
}

function associations(route: RouteContext, query: ListQuery, { subject }: SchemaVersion) {
  const found = matchingAssociations(route, query, subject) ?? []
  return found.length === 0 ? {} : { associations: found.map(toAssociationResponse) }
}

/**
 * The associations of a subject that match the query; empty if the query has no association filter. Undefined excludes
 * the subject from the list. The lifecycle NONE matches subjects without associations.
 */
function matchingAssociations(
  route: RouteContext,
  { resourceType, associationType: associationTypes, lifecycle: lifecycles }: ListQuery,
  subject: Subject,
): readonly StoredAssociation[] | undefined {
  if (resourceType === undefined && associationTypes.length === 0 && lifecycles.length === 0) return []
  const found = associationsOfSubject(route.view, subject, { resourceType, associationTypes })
  if (found.length === 0) return lifecycles.includes('NONE') ? [] : undefined
  const matching = lifecycles.length === 0 ? found : found.filter(({ lifecycle }) => lifecycles.includes(lifecycle))
  return matching.length === 0 ? undefined : matching
}

type IdRequest = FastifyRequest<{ Params: { id: number }; Querystring: { subject?: string | undefined } }>
type IdListRequest = FastifyRequest<{
  Params: { id: number }
  Querystring: { subject?: string | undefined; deleted: boolean; deletedOnly: boolean }
}>

function requestedSchema(route: RouteContext, request: IdRequest): SchemaVersion {
  const subject = route.queriedSubject(request, request.query.subject)
  return findById(route.view, request.params.id, subject, route.readable(request))
}

function versionsWithId(route: RouteContext, request: IdListRequest): readonly SchemaVersion[] {
  const subject = route.queriedSubject(request, request.query.subject)
  const which = versionFilter(request.query)
  return findVersionsById(route.view, request.params.id, subject, route.readable(request), which)
}

function versionsWithGuid(route: RouteContext, request: FastifyRequest, guid: string): readonly SchemaVersion[] {
  return findByGuid(route.view, guid.toLowerCase(), route.readable(request))
}
