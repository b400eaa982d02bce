import type { FastifyInstance, FastifyRequest } from 'fastify'
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
import { findVersion } from '../queries/schema-lookup.ts'
import { findInAnyContext, matchesVersionFilter } from '../queries/schema-search.ts'
import {
  booleanParameter,
  formatParameter,
  paginate,
  parseTagsUpdate,
  parseVersion,
  type Query,
} from './parse-request.ts'
import { paramsOf, queryOf, type RouteContext, versionFilterIn } from './route-context.ts'
import { toRegisterResponse, toSchemaResponse } from './schema-response.ts'

const VERSION = '/subjects/:subject/versions/:version'

/** `/subjects/{subject}/versions`: registers, reads and deletes versions. */
export function versionRoutes(app: FastifyInstance, route: RouteContext): void {
  app.get('/subjects/:subject/versions', { config: { metric: 'subjects.versions.list' } }, async (request) => {
    const query = queryOf(request)
    const subject = route.subject(request)
    const negative = booleanParameter(query, 'deletedAsNegative')
    const versions = route.view
      .versions(subject)
      .filter(matchesVersionFilter(negative ? 'all' : versionFilterIn(query)))
    if (versions.length === 0) throw subjectNotFound(subject)
    const numbers = versions.map(({ version, deleted }) => (negative && deleted ? -version : version))
    return paginate(numbers, query, route.limits('subject.version'))
  })

  app.post(
    '/subjects/:subject/versions',
    { config: { metric: 'subjects.versions.register' } },
    async (request, reply) => {
      const query = queryOf(request)
      formatParameter(query)
      const sent = await route.readSchemaBody(request, route.subject(request))
      const registration: Registration = {
        ...sent,
        schema: withDekRegistryDefaults(route, sent.schema),
        subject: route.subject(request),
        normalize: booleanParameter(query, 'normalize'),
        force: booleanParameter(query, 'force'),
      }
      const answer = (registered: RegisteredSchemaResult) => answerRegistered(route, request, registered, query)
      // A schema that is already registered is returned without involving the leader.
      const { revision } = route.view
      const results = route.registry.newDecisionResults()
      const registered = await route.registry.withDecisionContext(
        (context) => findRegistered(context, registration),
        results,
      )
      if (registered) {
        request.revision = revision
        return answer({ schema: registered, changed: false })
      }
      const decide = (context: DecisionContext) => decideRegister(context, registration, revision)
      return route.write(request, reply, { operation: REGISTER_MESSAGES, decide, answer, results })
    },
  )

  app.get(VERSION, { config: { metric: 'subjects.versions.get-schema' } }, async (request) => {
    route.markCacheable(request)
    const version = versionIn(route, request)
    return toSchemaResponse(version, await route.responseOptions(request, version))
  })

  app.get(`${VERSION}/schema`, { config: { metric: 'subjects.versions.get-schema.only' } }, async (request, reply) => {
    const version = versionIn(route, request)
    const { text = version.content.text } = await route.responseOptions(request, version)
    return reply.type(request.responseType).send(text)
  })

  app.get(`${VERSION}/referencedby`, { config: { metric: 'subjects.versions.list-schema-refs' } }, async (request) => {
    const query = queryOf(request)
    const { subject, version } = versionIn(route, request)
    const isReadable = route.readable(request)
    const ids = route.view
      .referrers(subject, version)
      .filter(matchesVersionFilter(versionFilterIn(query)))
      .filter((referrer) => isReadable(referrer.subject))
      .map(({ id }) => id)
    return paginate(
      [...new Set(ids)].sort((a, b) => a - b),
      query,
      route.limits('subject.version'),
    )
  })

  app.post(`${VERSION}/tags`, { config: { metric: 'subjects.versions.modify.tags' } }, async (request, reply) => {
    const subject = route.subject(request)
    const selector = parseVersion(paramsOf(request)['version'] ?? '')
    const update = withDekRegistryDefaults(route, parseTagsUpdate(request.body))
    await route.loadFormatOf(versionIn(route, request))
    const decide = (context: DecisionContext) => decideTags(context, subject, selector, update, route.permits(request))
    const answer = (registered: RegisteredSchemaResult) =>
      answerRegistered(route, request, { ...registered, changed: true }, {})
    return route.write(request, reply, { operation: REGISTER_MESSAGES, decide, answer })
  })

  app.delete(
    VERSION,
    { config: { metric: 'subjects.versions.deleteSchemaVersion-schema' } },
    async (request, reply) => {
      const subject = route.subject(request)
      const selector = parseVersion(paramsOf(request)['version'] ?? '')
      const permanent = booleanParameter(queryOf(request), 'permanent')
      const decide = (context: DecisionContext) => decideDeleteVersion(context, subject, selector, permanent)
      return route.write(request, reply, { operation: DELETE_VERSION_MESSAGES, decide })
    },
  )
}

/** If the DEK registry is enabled, adds the KMS defaults to encryption rules. */
function withDekRegistryDefaults<Sent extends { readonly ruleSet: RuleSet | undefined }>(
  route: RouteContext,
  sent: Sent,
): Sent {
  return route.settings['weir.dek.registry.enable'] ? { ...sent, ruleSet: withKmsDefaults(sent.ruleSet) } : sent
}

async function answerRegistered(
  route: RouteContext,
  request: FastifyRequest,
  { schema, changed }: RegisteredSchemaResult,
  query: Query,
): Promise<object> {
  const stored = { ...schema, timestampMs: 0 }
  return toRegisterResponse(stored, { ...(await route.responseOptions(request, stored, query)), changed })
}

function versionIn(route: RouteContext, request: FastifyRequest): SchemaVersion {
  const selector = parseVersion(paramsOf(request)['version'] ?? '')
  const deleted = booleanParameter(queryOf(request), 'deleted')
  return findInAnyContext(route.view, route.subject(request), route.permits(request), (subject) =>
    findVersion(route.view, subject, selector, { deleted }),
  )
}
