import type { FastifyInstance, FastifyRequest } from 'fastify'
import { streamJsonList } from '../../http/json-list.ts'
import { LIFECYCLES, type StoredAssociation } from '../model/association.ts'
import { RegistryError } from '../model/registry-error.ts'
import type { SchemaVersion } from '../model/schema.ts'
import { SCHEMA_TYPES } from '../model/schema-types.ts'
import { contextOf, type Subject } from '../model/subject.ts'
import { associationsOfSubject } from '../queries/association-search.ts'
import {
  findByGuid,
  findById,
  findSubjects,
  findVersionsById,
  hasRule,
  matchesVersionFilter,
} from '../queries/schema-search.ts'
import { type Api, paramsOf, queryOf, versionFilterIn } from './api.ts'
import { toAssociationResponse } from './associations.ts'
import { booleanParameter, paginate, parseId, stringParameter, stringParameters } from './request.ts'
import { toSchemaByIdResponse, toSchemaResponse } from './schema-response.ts'

/**
 * In characters of all schema texts. Smaller lists are sent in one piece, with `content-length`, and can be compressed.
 */
const STREAMED_MIN = 1_000_000

/** `/schemas`: lists schemas, and returns a schema by ID or GUID. */
export function schemaRoutes(app: FastifyInstance, api: Api): void {
  app.get('/schemas', { config: { metric: 'schemas.get-schemas' } }, async (request, reply) => {
    if (api.isNotModified(request, reply)) return reply.code(304).send()
    const query = queryOf(request)
    const listed = paginate(listSchemas(api, request), query, api.limits('schema'))
    const answerOf = (version: SchemaVersion) => ({
      ...toSchemaResponse(version, { profile: api.profile }),
      ...aliases(api, request, version),
      ...associations(api, request, version),
    })
    const characters = listed.reduce((sum, { content }) => sum + content.text.length, 0)
    if (characters < STREAMED_MIN) return listed.map(answerOf)
    return reply.send(streamJsonList(listed.values().map(answerOf)))
  })

  app.get('/schemas/types', { config: { metric: 'schemas.get-types' } }, async () => SCHEMA_TYPES)

  app.get('/schemas/ids/:id', { config: { metric: 'schemas.ids.get-schema' } }, async (request) => {
    api.markCacheable(request)
    const query = queryOf(request)
    const version = byId(api, request)
    const maxId = booleanParameter(query, 'fetchMaxId') ? api.view.idMax(contextOf(version.subject)) : undefined
    return toSchemaByIdResponse(version, {
      ...(await api.responseOptions(request, version)),
      maxId,
      // Confluent's registry handles a context in the path like a `subject` parameter.
      withSubject: stringParameter(query, 'subject') !== undefined || paramsOf(request)['context'] !== undefined,
    })
  })

  app.get('/schemas/ids/:id/schema', { config: { metric: 'schemas.ids.get-schema.only' } }, async (request, reply) => {
    const version = byId(api, request)
    const { text: written = version.content.text } = await api.responseOptions(request, version)
    return reply.type(request.responseType).send(written)
  })

  app.get('/schemas/ids/:id/subjects', { config: { metric: 'schemas.get-subjects' } }, async (request) => {
    const subjects = versionsById(api, request).map(({ subject }) => subject)
    return paginate([...new Set(subjects)], queryOf(request), api.limits('subject'))
  })

  app.get('/schemas/ids/:id/versions', { config: { metric: 'schemas.get-versions' } }, async (request) => {
    const versions = versionsById(api, request).map(({ subject, version }) => ({ subject, version }))
    return paginate(versions, queryOf(request), api.limits('subject.version'))
  })

  app.get('/schemas/guids/:guid', { config: { metric: 'schemas.guids.get-schema' } }, async (request) => {
    const [version] = findByGuid(api.view, guidIn(request), api.readable(request))
    return (
      version &&
      toSchemaByIdResponse(version, {
        ...(await api.responseOptions(request, version)),
        maxId: undefined,
        withSubject: false,
      })
    )
  })

  app.get('/schemas/guids/:guid/ids', { config: { metric: 'schemas.guids.get-ids' } }, async (request) =>
    findByGuid(api.view, guidIn(request), api.readable(request)).map(({ subject, id }) => ({
      context: contextOf(subject),
      id,
    })),
  )
}

function listSchemas(api: Api, request: FastifyRequest): readonly SchemaVersion[] {
  const query = queryOf(request)
  const which = versionFilterIn(query)
  const latestOnly = booleanParameter(query, 'latestOnly')
  const ruleType = stringParameter(query, 'ruleType')
  const subjects = findSubjects(api.view, api.prefix(request, ''), which)
    .filter(api.readable(request))
    .filter((subject) => matchingAssociations(api, request, subject) !== undefined)
  return subjects.flatMap((subject) => {
    const versions = api.view.versions(subject).filter(matchesVersionFilter(which))
    const wanted = latestOnly ? versions.slice(-1) : versions
    return ruleType === undefined ? wanted : wanted.filter((version) => hasRule(version, ruleType))
  })
}

/** The aliases of the schema's subject, if the query has `aliases=true`. */
function aliases(api: Api, request: FastifyRequest, { subject }: SchemaVersion): object {
  if (!booleanParameter(queryOf(request), 'aliases')) return {}
  const names = api.view.aliasesOf(subject).filter(api.readable(request))
  return names.length === 0 ? {} : { aliases: names }
}

function associations(api: Api, request: FastifyRequest, { subject }: SchemaVersion): object {
  const found = matchingAssociations(api, request, subject) ?? []
  return found.length === 0 ? {} : { associations: found.map(toAssociationResponse) }
}

/**
 * The associations of a subject that match the query; empty if the query has no association filter. Undefined excludes
 * the subject from the list. The lifecycle NONE matches subjects without associations. Throws `no_such_resource` for an
 * unknown lifecycle.
 */
function matchingAssociations(
  api: Api,
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
  const found = associationsOfSubject(api.view, subject, { resourceType, associationTypes })
  if (found.length === 0) return lifecycles.includes('NONE') ? [] : undefined
  const matching = lifecycles.length === 0 ? found : found.filter(({ lifecycle }) => lifecycles.includes(lifecycle))
  return matching.length === 0 ? undefined : matching
}

function byId(api: Api, request: FastifyRequest): SchemaVersion {
  return findById(api.view, parseId(paramsOf(request)['id'] ?? ''), api.queriedSubject(request), api.readable(request))
}

function versionsById(api: Api, request: FastifyRequest): readonly SchemaVersion[] {
  const id = parseId(paramsOf(request)['id'] ?? '')
  return findVersionsById(
    api.view,
    id,
    api.queriedSubject(request),
    api.readable(request),
    versionFilterIn(queryOf(request)),
  )
}

function guidIn(request: FastifyRequest): string {
  return (paramsOf(request)['guid'] ?? '').toLowerCase()
}
