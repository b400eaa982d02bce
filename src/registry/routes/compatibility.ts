import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RegistryError, versionNotFound } from '../model/registry-error.ts'
import type { SchemaVersion } from '../model/schema.ts'
import { checkCompatibility } from '../queries/find-incompatibilities.ts'
import { booleanParameter, parseVersion } from './parse-request.ts'
import { paramsOf, queryOf, type RouteContext } from './route-context.ts'

const SUBJECT = '/compatibility/subjects/:subject/versions'

/** `/compatibility`: checks whether a schema is compatible with registered versions, without registering it. */
export function compatibilityRoutes(app: FastifyInstance, route: RouteContext): void {
  app.post(SUBJECT, { config: { metric: 'compatibility.subjects.versions.verify' } }, async (request) =>
    compatibilityResponse(route, request, (subject) => route.view.versions(subject).filter(({ deleted }) => !deleted)),
  )

  app.post(`${SUBJECT}/:version`, { config: { metric: 'compatibility.subjects.versions.verify' } }, async (request) => {
    const selector = parseVersion(paramsOf(request)['version'] ?? '')
    return compatibilityResponse(route, request, (subject) => {
      const found = selector === 'latest' ? route.view.latest(subject) : route.view.version(subject, selector)
      if (found && !found.deleted) return [found]
      // A subject without versions is compatible with every schema.
      if (selector === 'latest') return []
      throw versionNotFound(selector)
    })
  })
}

type Versions = (subject: SchemaVersion['subject']) => readonly SchemaVersion[]

async function compatibilityResponse(
  route: RouteContext,
  request: FastifyRequest,
  versionsOf: Versions,
): Promise<object> {
  const query = queryOf(request)
  const subject = route.subject(request)
  const verbose = booleanParameter(query, 'verbose')
  const options = { normalize: booleanParameter(query, 'normalize') }
  const previous = versionsOf(subject)
  const messages = await check()
  return { is_compatible: messages.length === 0, ...(verbose ? { messages } : {}) }

  async function check(): Promise<readonly string[]> {
    try {
      const { schema } = await route.readSchemaBody(request, subject)
      return await route.registry.withDecisionContext((context) =>
        checkCompatibility(context, subject, schema, previous, options),
      )
    } catch (error) {
      // A verbose response reports an invalid schema as a message instead of an error.
      if (verbose && error instanceof RegistryError && error.code === 'invalid_schema') return [error.message]
      throw error
    }
  }
}
