import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from '../../http/endpoint.ts'
import { streamJsonList } from '../../http/json-list.ts'
import { invalidVersion, versionNotFound } from '../model/registry-error.ts'
import type { Subject } from '../model/subject.ts'
import { ALL_CONTEXTS } from '../model/subject.ts'
import { compareVersions } from '../queries/compare-versions.ts'
import { configInScope } from '../queries/effective-config.ts'
import { findSubjects, matchesVersionFilter } from '../queries/schema-search.ts'
import { query, versionFilter } from './query-parameters.ts'
import type { RouteContext } from './route-context.ts'

const versionNumber = z.string().default('').transform(toVersion)

/** What the console's list shows of each subject, in one response, and how two versions compare: the REST API needs several requests for each. */
export function subjectSummaryRoutes(app: FastifyInstance, route: RouteContext): void {
  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/subjects',
    permission: { operation: 'read', on: 'any' },
    querystring: query('deleted'),
    response: { 200: z.unknown() },
    handler: async (request, reply) => {
      const which = versionFilter({ ...request.query, deletedOnly: false })
      const subjects = findSubjects(route.view, ALL_CONTEXTS, which).filter(route.readable(request))
      const summaries = subjects.values().map((subject) => summaryOf(route, subject, which))
      return reply.header('cache-control', 'no-store').type('application/json').send(streamJsonList(summaries))
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: '/ui/api/subjects/:subject/comparison',
    permission: { operation: 'read', on: 'subject' },
    querystring: z.object({ from: versionNumber, to: versionNumber }),
    response: { 200: z.object({ backward: z.array(z.string()), forward: z.array(z.string()) }) },
    errors: ['version_not_found', 'invalid_version', 'invalid_schema'],
    handler: async (request, reply) => {
      const subject = route.subject(request)
      const versionOf = (number: number) => {
        const found = route.view.version(subject, number)
        if (found === undefined) throw versionNotFound(number)
        return found
      }
      const [older, newer] = [versionOf(request.query.from), versionOf(request.query.to)]
      void reply.header('cache-control', 'no-store')
      return route.registry.withDecisionContext((context) => compareVersions(context, older, newer))
    },
  })
}

/**
 * `[subject, type, version, id, number of versions, level, whether the level is its own, time of the version in ms, whether it is deleted]`.
 * A list, because there can be 100,000 of them.
 */
function summaryOf(route: RouteContext, subject: Subject, which: ReturnType<typeof versionFilter>): readonly unknown[] {
  const { view, defaults } = route.registry.decisionContext
  const versions = view.versions(subject).filter(matchesVersionFilter(which))
  const latest = view.latest(subject) ?? versions.at(-1)
  const { compatibilityLevel } = configInScope(view, subject, defaults)
  const isOwn = view.config(subject)?.compatibilityLevel !== undefined
  const { content, version, id, timestampMs, deleted } = latest ?? {}
  return [
    subject,
    content?.type,
    version,
    id,
    versions.length,
    compatibilityLevel,
    isOwn,
    timestampMs,
    deleted === true,
  ]
}

function toVersion(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw invalidVersion(text)
  return Number(text)
}
