import type { FastifyInstance, FastifyRequest } from 'fastify'
import { decideTags } from '../commands/change-tags.ts'
import type { DecisionContext } from '../commands/decision.ts'
import { decideDeleteVersion } from '../commands/delete.ts'
import { decideRegister, findRegistered, type RegisteredSchemaResult, type Registration } from '../commands/register.ts'
import { DELETE_VERSION, REGISTER } from '../commands/write-operation.ts'
import { withKmsDefaults } from '../dek/kms-defaults.ts'
import { subjectNotFound } from '../model/registry-error.ts'
import type { RuleSet } from '../model/rule-set.ts'
import type { SchemaVersion } from '../model/schema.ts'
import { findVersion } from '../queries/schema-lookup.ts'
import { findInAnyContext, matchesVersionFilter } from '../queries/schema-search.ts'
import { type Api, paramsOf, queryOf, versionFilterIn } from './api.ts'
import { booleanParameter, formatParameter, paginate, parseTagsUpdate, parseVersion, type Query } from './request.ts'
import { toRegisterResponse, toSchemaResponse } from './schema-response.ts'

const VERSION = '/subjects/:subject/versions/:version'

/** `/subjects/{subject}/versions`: registers, reads and deletes versions. */
export function versionRoutes(app: FastifyInstance, api: Api): void {
  app.get('/subjects/:subject/versions', { config: { metric: 'subjects.versions.list' } }, async (request) => {
    const query = queryOf(request)
    const subject = api.subject(request)
    const negative = booleanParameter(query, 'deletedAsNegative')
    const versions = api.view.versions(subject).filter(matchesVersionFilter(negative ? 'all' : versionFilterIn(query)))
    if (versions.length === 0) throw subjectNotFound(subject)
    const numbers = versions.map(({ version, deleted }) => (negative && deleted ? -version : version))
    return paginate(numbers, query, api.limits('subject.version'))
  })

  app.post(
    '/subjects/:subject/versions',
    { config: { metric: 'subjects.versions.register' } },
    async (request, reply) => {
      const query = queryOf(request)
      formatParameter(query)
      const sent = await api.readSchemaBody(request, api.subject(request))
      const registration: Registration = {
        ...sent,
        schema: withDekRegistryDefaults(api, sent.schema),
        subject: api.subject(request),
        normalize: booleanParameter(query, 'normalize'),
        force: booleanParameter(query, 'force'),
      }
      const answer = (registered: RegisteredSchemaResult) => answerRegistered(api, request, registered, query)
      // A schema that is already registered is returned without involving the leader.
      const { revision } = api.view
      const workerResults = api.registry.newWorkerResults()
      const registered = await api.registry.withDecisionContext(
        (context) => findRegistered(context, registration),
        workerResults,
      )
      if (registered) {
        request.revision = revision
        return answer({ schema: registered, changed: false })
      }
      const decide = (context: DecisionContext) => decideRegister(context, registration)
      return api.write(request, reply, { operation: REGISTER, decide, answer, workerResults })
    },
  )

  app.get(VERSION, { config: { metric: 'subjects.versions.get-schema' } }, async (request) => {
    api.markCacheable(request)
    const version = versionIn(api, request)
    return toSchemaResponse(version, await api.responseOptions(request, version))
  })

  app.get(`${VERSION}/schema`, { config: { metric: 'subjects.versions.get-schema.only' } }, async (request, reply) => {
    const version = versionIn(api, request)
    const { text = version.content.text } = await api.responseOptions(request, version)
    return reply.type(request.responseType).send(text)
  })

  app.get(`${VERSION}/referencedby`, { config: { metric: 'subjects.versions.list-schema-refs' } }, async (request) => {
    const query = queryOf(request)
    const { subject, version } = versionIn(api, request)
    const isReadable = api.readable(request)
    const ids = api.view
      .referrers(subject, version)
      .filter(matchesVersionFilter(versionFilterIn(query)))
      .filter((referrer) => isReadable(referrer.subject))
      .map(({ id }) => id)
    return paginate(
      [...new Set(ids)].sort((a, b) => a - b),
      query,
      api.limits('subject.version'),
    )
  })

  app.post(`${VERSION}/tags`, { config: { metric: 'subjects.versions.modify.tags' } }, async (request, reply) => {
    const subject = api.subject(request)
    const selector = parseVersion(paramsOf(request)['version'] ?? '')
    const update = withDekRegistryDefaults(api, parseTagsUpdate(request.body))
    await api.loadFormatOf(versionIn(api, request))
    const decide = (context: DecisionContext) => decideTags(context, subject, selector, update, api.permits(request))
    const answer = (registered: RegisteredSchemaResult) =>
      answerRegistered(api, request, { ...registered, changed: true }, {})
    return api.write(request, reply, { operation: REGISTER, decide, answer })
  })

  app.delete(
    VERSION,
    { config: { metric: 'subjects.versions.deleteSchemaVersion-schema' } },
    async (request, reply) => {
      const subject = api.subject(request)
      const selector = parseVersion(paramsOf(request)['version'] ?? '')
      const permanent = booleanParameter(queryOf(request), 'permanent')
      const decide = (context: DecisionContext) => decideDeleteVersion(context, subject, selector, permanent)
      return api.write(request, reply, { operation: DELETE_VERSION, decide })
    },
  )
}

/** If the DEK registry is enabled, adds the KMS defaults to encryption rules. */
function withDekRegistryDefaults<Sent extends { readonly ruleSet: RuleSet | undefined }>(api: Api, sent: Sent): Sent {
  return api.settings['weir.dek.registry.enable'] ? { ...sent, ruleSet: withKmsDefaults(sent.ruleSet) } : sent
}

async function answerRegistered(
  api: Api,
  request: FastifyRequest,
  { schema, changed }: RegisteredSchemaResult,
  query: Query,
): Promise<object> {
  const stored = { ...schema, timestampMs: 0 }
  return toRegisterResponse(stored, { ...(await api.responseOptions(request, stored, query)), changed })
}

function versionIn(api: Api, request: FastifyRequest): SchemaVersion {
  const selector = parseVersion(paramsOf(request)['version'] ?? '')
  const deleted = booleanParameter(queryOf(request), 'deleted')
  return findInAnyContext(api.view, api.subject(request), api.permits(request), (subject) =>
    findVersion(api.view, subject, selector, { deleted }),
  )
}
