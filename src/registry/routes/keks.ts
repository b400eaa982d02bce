import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { DekRegistry } from '../dek/dek-registry.ts'
import { existingKek, liveKek } from '../dek/kek-commands.ts'
import type { Kek } from '../dek/key.ts'
import { toSubject } from '../model/subject.ts'
import {
  CREATE_KEY_MESSAGES,
  DELETE_KEY_MESSAGES,
  UNDELETE_KEY_MESSAGES,
  UPDATE_KEY_MESSAGES,
} from '../model/write-error-messages.ts'
import { kekNameIn } from './key-authorization.ts'
import { kekResponse, testedKekResponse } from './key-response.ts'
import { parseKek, parseKekUpdate } from './parse-key-request.ts'
import { booleanParameter, paginate, stringParameters } from './parse-request.ts'
import { contextIn, queryOf, type RouteContext } from './route-context.ts'

const KEKS = '/dek-registry/v1/keks'
const KEK = `${KEKS}/:name`

/** `/dek-registry/v1/keks`: key encryption keys. KEK names are not qualified with a context. */
export function kekRoutes(app: FastifyInstance, route: RouteContext, registry: DekRegistry): void {
  app.get(KEKS, { config: { metric: 'keks.list' } }, async (request) => {
    const rights = request.rights.forKind('keks')
    const names = kekNames(registry, request).filter((name) => rights.allows('read', name))
    return paginate(names, queryOf(request), route.limits('kek'))
  })

  app.get(KEK, { config: { metric: 'keks.get' } }, async (request) => {
    const deleted = booleanParameter(queryOf(request), 'deleted')
    const name = kekNameIn(request)
    return kekResponse(deleted ? existingKek(registry.view, name) : liveKek(registry.view, name))
  })

  app.post(KEKS, { config: { metric: 'keks.create' } }, async (request, reply) => {
    const kek = parseKek(request.body)
    request.rights.forKind('keks').require('write', kek.name)
    const test = booleanParameter(queryOf(request), 'testSharing')
    return route.onLeader(request, reply, CREATE_KEY_MESSAGES, async () =>
      kekResponse(await registry.createKek(kek, { test })),
    )
  })

  app.post(`${KEK}/test`, { config: { metric: 'keks.test' } }, async (request) => {
    const kek = liveKek(registry.view, kekNameIn(request))
    await registry.testKek(kek)
    return testedKekResponse(kek)
  })

  app.put(KEK, { config: { metric: 'keks.put' } }, async (request, reply) => {
    const name = kekNameIn(request)
    const update = parseKekUpdate(request.body)
    const test = booleanParameter(queryOf(request), 'testSharing')
    const act = async () => kekResponse(await registry.updateKek(name, update, { test }))
    return route.onLeader(request, reply, UPDATE_KEY_MESSAGES, act)
  })

  app.delete(KEK, { config: { metric: 'keks.delete' } }, async (request, reply) => {
    const name = kekNameIn(request)
    const permanent = booleanParameter(queryOf(request), 'permanent')
    return route.onLeader(request, reply, DELETE_KEY_MESSAGES, async () => {
      await registry.deleteKek(name, permanent)
      return reply.code(204).send()
    })
  })

  app.post(`${KEK}/undelete`, { config: { metric: 'keks.undelete' } }, async (request, reply) => {
    const name = kekNameIn(request)
    return route.onLeader(request, reply, UNDELETE_KEY_MESSAGES, async () => {
      await registry.undeleteKek(name)
      return reply.code(204).send()
    })
  })
}

/** The names of all KEKs; with `subjectPrefix`, of those with a DEK for a subject with one of the prefixes. */
function kekNames({ view }: DekRegistry, request: FastifyRequest): readonly string[] {
  const query = queryOf(request)
  const prefixes = stringParameters(query, 'subjectPrefix').map((prefix) => toSubject(prefix, contextIn(request)))
  const counts = ({ deleted }: Pick<Kek, 'deleted'>) => !deleted || booleanParameter(query, 'deleted')
  if (prefixes.length === 0)
    return view
      .keks()
      .filter(counts)
      .map(({ name }) => name)
  const deks = [...view.deks()].filter(
    (dek) => counts(dek) && prefixes.some((prefix) => dek.subject.startsWith(prefix)),
  )
  return [...new Set(deks.map(({ kekName }) => kekName))].sort()
}
