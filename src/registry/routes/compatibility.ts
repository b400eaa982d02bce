import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addEndpoint, type ResponseBody } from '../../http/endpoint.ts'
import { RegistryError, versionNotFound } from '../model/registry-error.ts'
import type { SchemaVersion } from '../model/schema.ts'
import { checkCompatibility } from '../queries/find-incompatibilities.ts'
import { compatibilityVerdict } from './entities.ts'
import { query } from './query-parameters.ts'
import { type SchemaBody, schemaBody, versionInPath } from './request-bodies.ts'
import type { RouteContext } from './route-context.ts'

/** `/compatibility`: checks whether a schema is compatible with registered versions, without registering it. */
export function compatibilityRoutes(app: FastifyInstance, route: RouteContext): void {
  const check = {
    method: 'POST',
    permission: { operation: 'read', on: 'subject' },
    metric: 'compatibility.subjects.versions.verify',
    querystring: query('normalize', 'verbose'),
    body: schemaBody,
    response: { 200: compatibilityVerdict },
  } as const

  addEndpoint(app, {
    ...check,
    url: '/compatibility/subjects/:subject/versions',
    summary:
      'Checks whether a schema is compatible with the versions that the compatibility level of the subject selects',
    errors: ['invalid_schema'],
    handler: async (request) =>
      verdict(route, request, (subject) => route.view.versions(subject).filter(({ deleted }) => !deleted)),
  })

  addEndpoint(app, {
    ...check,
    url: '/compatibility/subjects/:subject/versions/:version',
    summary: 'Checks whether a schema is compatible with one version',
    params: versionInPath,
    errors: ['version_not_found', 'invalid_version', 'invalid_schema'],
    handler: async (request) => {
      const { version: selector } = request.params
      return verdict(route, request, (subject) => {
        const found = selector === 'latest' ? route.view.latest(subject) : route.view.version(subject, selector)
        if (found && !found.deleted) return [found]
        // A subject without versions is compatible with every schema.
        if (selector === 'latest') return []
        throw versionNotFound(selector)
      })
    },
  })
}

type CheckRequest = FastifyRequest<{ Body: SchemaBody; Querystring: { normalize: boolean; verbose: boolean } }>
type Versions = (subject: SchemaVersion['subject']) => readonly SchemaVersion[]

async function verdict(
  route: RouteContext,
  request: CheckRequest,
  versionsOf: Versions,
): Promise<ResponseBody<typeof compatibilityVerdict>> {
  const { verbose, normalize } = request.query
  const subject = route.subject(request)
  const previous = versionsOf(subject)
  const messages = await check()
  return { is_compatible: messages.length === 0, ...(verbose ? { messages } : {}) }

  async function check(): Promise<readonly string[]> {
    try {
      await route.prepareSchema(request, subject, request.body)
      return await route.registry.withDecisionContext((context) =>
        checkCompatibility(context, subject, request.body.schema, previous, { normalize }),
      )
    } catch (error) {
      // A verbose response reports an invalid schema as a message instead of an error.
      if (verbose && error instanceof RegistryError && error.code === 'invalid_schema') return [error.message]
      throw error
    }
  }
}
