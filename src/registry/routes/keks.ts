import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { addEndpoint, noContent } from '../../http/endpoint.ts'
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
import { kek as kekEntity, testedKek } from './entities.ts'
import { kekNameIn } from './key-authorization.ts'
import { kekBody, kekUpdateBody } from './key-bodies.ts'
import { kekResponse, testedKekResponse } from './key-response.ts'
import { paginate, query, subjectPrefixes } from './query-parameters.ts'
import { contextIn, type RouteContext } from './route-context.ts'

const KEKS = '/dek-registry/v1/keks'
const KEK = `${KEKS}/:name`

/** `/dek-registry/v1/keks`: key encryption keys. KEK names are not qualified with a context. */
export function kekRoutes(app: FastifyInstance, route: RouteContext, registry: DekRegistry): void {
  addEndpoint(app, {
    method: 'GET',
    url: KEKS,
    summary: 'Lists the names of the KEKs',
    permission: { operation: 'read', on: 'any kek' },
    metric: 'keks.list',
    querystring: query('deleted', 'offset', 'limit').extend({ subjectPrefix: subjectPrefixes }),
    response: { 200: z.array(z.string()) },
    handler: async (request) => {
      const { subjectPrefix, deleted, ...page } = request.query
      const rights = request.rights.forKind('keks')
      const prefixes = subjectPrefix.map((prefix) => toSubject(prefix, contextIn(request)))
      const names = kekNames(registry, prefixes, deleted).filter((name) => rights.allows('read', name))
      return paginate(names, page, route.limits('kek'))
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: KEK,
    summary: 'Returns a KEK',
    permission: { operation: 'read', on: 'kek' },
    metric: 'keks.get',
    querystring: query('deleted'),
    response: { 200: kekEntity },
    errors: ['key_not_found', 'invalid_key'],
    handler: async (request) => {
      const name = kekNameIn(request)
      return kekResponse(request.query.deleted ? existingKek(registry.view, name) : liveKek(registry.view, name))
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: KEKS,
    summary: 'Creates a KEK',
    permission: { operation: 'write', on: 'any kek' },
    metric: 'keks.create',
    querystring: query('testSharing'),
    body: kekBody,
    response: { 200: kekEntity },
    errors: ['key_exists', 'too_many_keys', 'invalid_key', 'kek_not_usable'],
    handler: async (request, reply) => {
      const { body: kek } = request
      const { testSharing: test } = request.query
      request.rights.forKind('keks').require('write', kek.name)
      return route.onLeader(request, reply, CREATE_KEY_MESSAGES, async () =>
        kekResponse(await registry.createKek(kek, { test })),
      )
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: `${KEK}/test`,
    summary: 'Tests whether the KMS can encrypt with a shared KEK',
    permission: { operation: 'read', on: 'kek' },
    metric: 'keks.test',
    response: { 200: testedKek },
    errors: ['key_not_found', 'invalid_key', 'dek_generation_failed'],
    handler: async (request) => {
      const kek = liveKek(registry.view, kekNameIn(request))
      await registry.testKek(kek)
      return testedKekResponse(kek)
    },
  })

  addEndpoint(app, {
    method: 'PUT',
    url: KEK,
    summary: 'Updates a KEK',
    permission: { operation: 'write', on: 'kek' },
    metric: 'keks.put',
    querystring: query('testSharing'),
    body: kekUpdateBody,
    response: { 200: kekEntity },
    errors: ['key_not_found', 'invalid_key', 'kek_not_usable'],
    handler: async (request, reply) => {
      const name = kekNameIn(request)
      const { testSharing: test } = request.query
      return route.onLeader(request, reply, UPDATE_KEY_MESSAGES, async () =>
        kekResponse(await registry.updateKek(name, request.body, { test })),
      )
    },
  })

  addEndpoint(app, {
    method: 'DELETE',
    url: KEK,
    summary: 'Deletes a KEK that has no DEKs',
    permission: { operation: 'delete', on: 'kek' },
    metric: 'keks.delete',
    querystring: query('permanent'),
    response: { 204: noContent },
    errors: ['key_not_found', 'key_not_soft_deleted', 'key_reference_exists'],
    handler: async (request, reply) => {
      const name = kekNameIn(request)
      return route.onLeader(request, reply, DELETE_KEY_MESSAGES, async () => {
        await registry.deleteKek(name, request.query.permanent)
        return reply.code(204).send()
      })
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: `${KEK}/undelete`,
    summary: 'Undeletes a soft-deleted KEK',
    permission: { operation: 'write', on: 'kek' },
    metric: 'keks.undelete',
    response: { 204: noContent },
    errors: ['key_not_found', 'key_soft_deleted'],
    handler: async (request, reply) => {
      const name = kekNameIn(request)
      return route.onLeader(request, reply, UNDELETE_KEY_MESSAGES, async () => {
        await registry.undeleteKek(name)
        return reply.code(204).send()
      })
    },
  })
}

/** The names of all KEKs; with prefixes, of those with a DEK for a subject with one of the prefixes. */
function kekNames({ view }: DekRegistry, prefixes: readonly string[], deleted: boolean): readonly string[] {
  const counts = (key: Pick<Kek, 'deleted'>) => deleted || !key.deleted
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
