import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { addEndpoint, type ResponseBody } from '../../http/endpoint.ts'
import { decideTags } from '../commands/change-tags.ts'
import type { DecisionContext } from '../commands/decision-types.ts'
import { decideDeleteVersion } from '../commands/delete-schema.ts'
import {
  decideRegister,
  findRegistered,
  type RegisteredSchemaResult,
  type Registration,
} from '../commands/register-schema.ts'
import { withKmsDefaults } from '../dek/kms-defaults.ts'
import { subjectNotFound } from '../model/registry-error.ts'
import type { RuleSet } from '../model/rule-set.ts'
import type { SchemaVersion } from '../model/schema.ts'
import { DELETE_VERSION_MESSAGES, REGISTER_MESSAGES } from '../model/write-error-messages.ts'
import { findVersion, type VersionSelector } from '../queries/schema-lookup.ts'
import { findInAnyContext, matchesVersionFilter } from '../queries/schema-search.ts'
import { registeredSchema, schema, schemaText } from './entities.ts'
import { REGISTRATION_ERRORS } from './error-response.ts'
import { paginate, query, versionFilter } from './query-parameters.ts'
import { schemaBody, tagsBody, versionInPath } from './request-bodies.ts'
import type { RouteContext, SchemaQuery } from './route-context.ts'
import { toRegisterResponse, toSchemaResponse } from './schema-response.ts'

const VERSION = '/subjects/:subject/versions/:version'

/** `/subjects/{subject}/versions`: registers, reads and deletes versions. */
export function versionRoutes(app: FastifyInstance, route: RouteContext): void {
  addEndpoint(app, {
    method: 'GET',
    url: '/subjects/:subject/versions',
    summary: 'Lists the versions of a subject',
    permission: { operation: 'read', on: 'subject' },
    metric: 'subjects.versions.list',
    querystring: query('deleted', 'deletedOnly', 'deletedAsNegative', 'offset', 'limit'),
    response: { 200: z.array(z.number().int()) },
    errors: ['subject_not_found'],
    handler: async (request) => {
      const { deletedAsNegative: negative, ...filter } = request.query
      const subject = route.subject(request)
      const versions = route.view
        .versions(subject)
        .filter(matchesVersionFilter(negative ? 'all' : versionFilter(filter)))
      if (versions.length === 0) throw subjectNotFound(subject)
      const numbers = versions.map(({ version, deleted }) => (negative && deleted ? -version : version))
      return paginate(numbers, filter, route.limits('subject.version'))
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: '/subjects/:subject/versions',
    summary: 'Registers a schema under a subject',
    permission: { operation: 'write', on: 'subject' },
    metric: 'subjects.versions.register',
    querystring: query('normalize', 'force', 'format', 'findTags', 'referenceFormat'),
    body: schemaBody,
    response: { 200: registeredSchema },
    errors: REGISTRATION_ERRORS,
    handler: async (request, reply) => {
      const { normalize, force } = request.query
      await route.prepareSchema(request, route.subject(request), request.body)
      const registration: Registration = {
        ...request.body,
        schema: withDekRegistryDefaults(route, request.body.schema),
        subject: route.subject(request),
        normalize,
        force,
      }
      const answer = (registered: RegisteredSchemaResult) => registerResponse(route, request, registered, request.query)
      // A schema that is already registered is returned without involving the leader.
      const { revision } = route.view
      const registered = await route.registry.withDecisionContext((context) => findRegistered(context, registration))
      if (registered) return await answer({ schema: registered, changed: false })
      const decide = (context: DecisionContext) => decideRegister(context, registration, revision)
      return route.write(request, reply, { operation: REGISTER_MESSAGES, decide, answer })
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: VERSION,
    summary: 'Returns a version of a subject',
    permission: { operation: 'read', on: 'subject' },
    metric: 'subjects.versions.get-schema',
    params: versionInPath,
    querystring: query('deleted', 'format', 'findTags', 'referenceFormat'),
    response: { 200: schema },
    errors: ['subject_not_found', 'version_not_found', 'invalid_version', 'invalid_schema'],
    handler: async (request) => {
      const version = requestedVersion(route, request)
      return toSchemaResponse(version, await route.responseOptions(request, version, request.query))
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: `${VERSION}/schema`,
    summary: 'Returns the text of a version',
    permission: { operation: 'read', on: 'subject' },
    metric: 'subjects.versions.get-schema.only',
    params: versionInPath,
    querystring: query('deleted', 'format'),
    response: { 200: schemaText },
    errors: ['subject_not_found', 'version_not_found', 'invalid_version', 'invalid_schema'],
    handler: async (request, reply) => {
      const version = requestedVersion(route, request)
      const { text = version.content.text } = await route.responseOptions(request, version, request.query)
      return reply.type(request.responseType).send(text)
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: `${VERSION}/referencedby`,
    summary: 'Lists the IDs of the schemas that reference a version',
    permission: { operation: 'read', on: 'subject' },
    metric: 'subjects.versions.list-schema-refs',
    params: versionInPath,
    querystring: query('deleted', 'deletedOnly', 'offset', 'limit'),
    response: { 200: z.array(z.number().int()) },
    errors: ['subject_not_found', 'version_not_found', 'invalid_version'],
    handler: async (request) => {
      const { subject, version } = requestedVersion(route, request)
      const isReadable = route.readable(request)
      const ids = route.view
        .referrers(subject, version)
        .filter(matchesVersionFilter(versionFilter(request.query)))
        .filter((referrer) => isReadable(referrer.subject))
        .map(({ id }) => id)
      return paginate(
        [...new Set(ids)].sort((a, b) => a - b),
        request.query,
        route.limits('subject.version'),
      )
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: `${VERSION}/tags`,
    summary: 'Registers a version with other tags, metadata or rules',
    permission: { operation: 'write', on: 'subject' },
    metric: 'subjects.versions.modify.tags',
    params: versionInPath,
    querystring: query('deleted'),
    body: tagsBody,
    response: { 200: registeredSchema },
    errors: [
      'subject_not_found',
      'version_not_found',
      'invalid_version',
      'incompatible_schema',
      'invalid_schema',
      'invalid_rule_set',
      'not_permitted',
    ],
    handler: async (request, reply) => {
      const subject = route.subject(request)
      const selector = request.params.version
      const update = withDekRegistryDefaults(route, request.body)
      return route.write(request, reply, {
        operation: REGISTER_MESSAGES,
        decide: (context: DecisionContext) => decideTags(context, subject, selector, update, route.permits(request)),
        answer: (registered) => registerResponse(route, request, { ...registered, changed: true }, {}),
      })
    },
  })

  addEndpoint(app, {
    method: 'DELETE',
    url: VERSION,
    summary: 'Deletes a version and returns its number',
    permission: { operation: 'delete', on: 'subject' },
    metric: 'subjects.versions.deleteSchemaVersion-schema',
    params: versionInPath,
    querystring: query('permanent'),
    response: { 200: z.number().int() },
    errors: [
      'subject_not_found',
      'version_not_found',
      'invalid_version',
      'version_soft_deleted',
      'version_not_soft_deleted',
      'no_active_version',
      'not_permitted',
      'reference_exists',
    ],
    handler: async (request, reply) => {
      const subject = route.subject(request)
      const { version } = request.params
      const { permanent } = request.query
      return route.write(request, reply, {
        operation: DELETE_VERSION_MESSAGES,
        decide: (context: DecisionContext) => decideDeleteVersion(context, subject, version, permanent),
        answer: (deleted) => deleted,
      })
    },
  })
}

/** If the DEK registry is enabled, adds the KMS defaults to encryption rules. */
function withDekRegistryDefaults<Sent extends { readonly ruleSet: RuleSet | undefined }>(
  route: RouteContext,
  sent: Sent,
): Sent {
  return route.settings['weir.dek.registry.enable'] ? { ...sent, ruleSet: withKmsDefaults(sent.ruleSet) } : sent
}

async function registerResponse(
  route: RouteContext,
  request: FastifyRequest,
  { schema, changed }: RegisteredSchemaResult,
  query: SchemaQuery,
): Promise<ResponseBody<typeof registeredSchema>> {
  const stored = { ...schema, timestampMs: 0 }
  return toRegisterResponse(stored, { ...(await route.responseOptions(request, stored, query)), changed })
}

type VersionRequest = FastifyRequest<{ Params: { version: VersionSelector }; Querystring: { deleted: boolean } }>

function requestedVersion(route: RouteContext, request: VersionRequest): SchemaVersion {
  const { version } = request.params
  const { deleted } = request.query
  return findInAnyContext(route.view, route.subject(request), route.permits(request), (subject) =>
    findVersion(route.view, subject, version, { deleted }),
  )
}
