import type { FastifyInstance, FastifyRequest } from 'fastify'
import { SCHEMA_TYPES } from '../../formats/load-format.ts'
import { contextOf } from '../../formats/qualified-subject.ts'
import { streamJsonList } from '../../http/json-list.ts'
import { LIFECYCLES, type StoredAssociation } from '../model/association.ts'
import { RegistryError } from '../model/registry-error.ts'
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
import { toAssociationResponse } from './associations.ts'
import { booleanParameter, paginate, parseId, stringParameter, stringParameters } from './parse-request.ts'
import { paramsOf, queryOf, type RouteContext, versionFilterIn } from './route-context.ts'
import { toSchemaByIdResponse, toSchemaResponse } from './schema-response.ts'

/**
 * In characters of all schema texts. Smaller lists are sent in one piece, with `content-length`, and can be compressed.
 */
const STREAMED_MIN = 1_000_000

/** `/schemas`: lists schemas, and returns a schema by ID or GUID. */
export function schemaRoutes(app: FastifyInstance, route: RouteContext): void {
  app.get('/schemas', { config: { metric: 'schemas.get-schemas' } }, async (request, reply) => {
    if (route.isNotModified(request, reply)) return reply.code(304).send()
    const query = queryOf(request)
    const listed = paginate(listSchemas(route, request), query, route.limits('schema'))
    const answerOf = (version: SchemaVersion) => ({
      ...toSchemaResponse(version, { profile: route.profile }),
      ...aliases(route, request, version),
      ...associations(route, request, version),
    })
    const characters = listed.reduce((sum, { content }) => sum + content.text.length, 0)
    if (characters < STREAMED_MIN) return listed.map(answerOf)
    return reply.send(streamJsonList(listed.values().map(answerOf)))
  })

  app.get('/schemas/types', { config: { metric: 'schemas.get-types' } }, async () => SCHEMA_TYPES)

  app.get('/schemas/ids/:id', { config: { metric: 'schemas.ids.get-schema' } }, async (request) => {
    route.markCacheable(request)
    const query = queryOf(request)
    const version = byId(route, request)
    const maxId = booleanParameter(query, 'fetchMaxId') ? route.view.idMax(contextOf(version.subject)) : undefined
    return toSchemaByIdResponse(version, {
      ...(await route.responseOptions(request, version)),
      maxId,
      // Confluent's registry handles a context in the path like a `subject` parameter.
      withSubject: stringParameter(query, 'subject') !== undefined || paramsOf(request)['context'] !== undefined,
    })
  })

  app.get('/schemas/ids/:id/schema', { config: { metric: 'schemas.ids.get-schema.only' } }, async (request, reply) => {
    const version = byId(route, request)
    const { text: written = version.content.text } = await route.responseOptions(request, version)
    return reply.type(request.responseType).send(written)
  })

  app.get('/schemas/ids/:id/subjects', { config: { metric: 'schemas.get-subjects' } }, async (request) => {
    const subjects = versionsById(route, request).map(({ subject }) => subject)
    return paginate([...new Set(subjects)], queryOf(request), route.limits('subject'))
  })

  app.get('/schemas/ids/:id/versions', { config: { metric: 'schemas.get-versions' } }, async (request) => {
    const versions = versionsById(route, request).map(({ subject, version }) => ({ subject, version }))
    return paginate(versions, queryOf(request), route.limits('subject.version'))
  })

  app.get('/schemas/guids/:guid', { config: { metric: 'schemas.guids.get-schema' } }, async (request) => {
    const [version] = await findVersionsByGuid(route, request)
    return (
      version &&
      toSchemaByIdResponse(version, {
        ...(await route.responseOptions(request, version)),
        maxId: undefined,
        withSubject: false,
      })
    )
  })

  app.get('/schemas/guids/:guid/ids', { config: { metric: 'schemas.guids.get-ids' } }, async (request) =>
    (await findVersionsByGuid(route, request)).map(({ subject, id }) => ({ context: contextOf(subject), id })),
  )
}

/** The versions are created as they are requested, because a page has few of them. */
function listSchemas(route: RouteContext, request: FastifyRequest): Iterable<SchemaVersion> {
  const query = queryOf(request)
  const which = versionFilterIn(query)
  const latestOnly = booleanParameter(query, 'latestOnly')
  const ruleType = stringParameter(query, 'ruleType')
  const subjects = findSubjects(route.view, route.prefix(request, ''), which)
    .filter(route.readable(request))
    .filter((subject) => matchingAssociations(route, request, subject) !== undefined)
  return subjects.values().flatMap((subject) => {
    const versions = route.view.versions(subject).filter(matchesVersionFilter(which))
    const wanted = latestOnly ? versions.slice(-1) : versions
    return ruleType === undefined ? wanted : wanted.filter((version) => hasRule(version, ruleType))
  })
}

/** The aliases of the schema's subject, if the query has `aliases=true`. */
function aliases(route: RouteContext, request: FastifyRequest, { subject }: SchemaVersion): object {
  if (!booleanParameter(queryOf(request), 'aliases')) return {}
  const names = route.view.aliasesOf(subject).filter(route.readable(request))
  return names.length === 0 ? {} : { aliases: names }
}

function associations(route: RouteContext, request: FastifyRequest, { subject }: SchemaVersion): object {
  const found = matchingAssociations(route, request, subject) ?? []
  return found.length === 0 ? {} : { associations: found.map(toAssociationResponse) }
}

/**
 * The associations of a subject that match the query; empty if the query has no association filter. Undefined excludes
 * the subject from the list. The lifecycle NONE matches subjects without associations. Throws `no_such_resource` for an
 * unknown lifecycle.
 */
function matchingAssociations(
  route: RouteContext,
  request: FastifyRequest,
  subject: Subject,
): readonly StoredAssociation[] | undefined {
  const query = queryOf(request)
  const resourceType = stringParameter(query, 'resourceType')
  const associationTypes = stringParameters(query, 'associationType')
  const lifecycles = stringParameters(query, 'lifecycle')
  if (resourceType === undefined && associationTypes.length === 0 && lifecycles.length === 0) return []
  if (lifecycles.some((word) => word !== 'NONE' && !LIFECYCLES.some((known) => known === word))) {
    throw new RegistryError('no_such_resource', 'HTTP 404 Not Found')
  }
  const found = associationsOfSubject(route.view, subject, { resourceType, associationTypes })
  if (found.length === 0) return lifecycles.includes('NONE') ? [] : undefined
  const matching = lifecycles.length === 0 ? found : found.filter(({ lifecycle }) => lifecycles.includes(lifecycle))
  return matching.length === 0 ? undefined : matching
}

function byId(route: RouteContext, request: FastifyRequest): SchemaVersion {
  return findById(
    route.view,
    parseId(paramsOf(request)['id'] ?? ''),
    route.queriedSubject(request),
    route.readable(request),
  )
}

function versionsById(route: RouteContext, request: FastifyRequest): readonly SchemaVersion[] {
  const id = parseId(paramsOf(request)['id'] ?? '')
  return findVersionsById(
    route.view,
    id,
    route.queriedSubject(request),
    route.readable(request),
    versionFilterIn(queryOf(request)),
  )
}

function findVersionsByGuid(route: RouteContext, request: FastifyRequest): Promise<readonly SchemaVersion[]> {
  const guid = (paramsOf(request)['guid'] ?? '').toLowerCase()
  return route.registry.withDecisionContext(({ view }) => findByGuid(view, guid, route.readable(request)))
}
