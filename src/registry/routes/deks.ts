import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { DekAlgorithm } from '../../encryption/data-cipher.ts'
import { addEndpoint, noContent, type ResponseBody } from '../../http/endpoint.ts'
import { type DekVersions, findDek, type VersionNumber } from '../dek/dek-commands.ts'
import type { DekRegistry } from '../dek/dek-registry.ts'
import { existingKek, liveKek } from '../dek/kek-commands.ts'
import { FIRST_VERSION } from '../dek/key.ts'
import { type Subject, toSubject } from '../model/subject.ts'
import {
  CREATE_KEY_MESSAGES,
  DELETE_KEY_MESSAGES,
  UNDELETE_KEY_MESSAGES,
  type WriteErrorMessages,
} from '../model/write-error-messages.ts'
import { dek as dekEntity } from './entities.ts'
import { checkedDekSubject, dekSubjectIn, kekNameIn } from './key-authorization.ts'
import { type DekBody, dekBody } from './key-bodies.ts'
import { dekResponse } from './key-response.ts'
import { paginate, query } from './query-parameters.ts'
import { versionInPath } from './request-bodies.ts'
import type { RouteContext } from './route-context.ts'

const DEKS = '/dek-registry/v1/keks/:name/deks'
const DEK = `${DEKS}/:subject`
const VERSION = `${DEK}/versions/:version`

/** `/dek-registry/v1/keks/{name}/deks`: data encryption keys, by subject, algorithm and version. */
export function dekRoutes(app: FastifyInstance, route: RouteContext, registry: DekRegistry): void {
  addEndpoint(app, {
    method: 'GET',
    url: DEKS,
    summary: 'Lists the subjects that have a DEK of a KEK',
    permission: { operation: 'read', on: 'kek' },
    metric: 'deks.list',
    querystring: query('deleted', 'offset', 'limit'),
    response: { 200: z.array(z.string()) },
    errors: ['key_not_found'],
    handler: async (request) => {
      const { deleted, ...page } = request.query
      const kekName = readableKek(request, deleted)
      const isReadable = route.readable(request)
      const subjects = [...registry.view.deks(kekName)]
        .filter((dek) => (deleted || !dek.deleted) && isReadable(dek.subject))
        .map(({ subject }) => subject)
      return paginate([...new Set(subjects)].sort(), page, route.limits('dek.subject'))
    },
  })

  addEndpoint(app, {
    method: 'GET',
    url: DEK,
    summary: 'Returns the first version of a DEK',
    permission: { operation: 'read', on: 'kek and subject' },
    metric: 'deks.get',
    querystring: query('algorithm', 'deleted'),
    response: { 200: dekEntity },
    errors: ['key_not_found', 'no_such_resource', 'dek_generation_failed'],
    handler: (request, reply) => readDek(request, reply, FIRST_VERSION),
  })

  addEndpoint(app, {
    method: 'GET',
    url: VERSION,
    summary: 'Returns one version of a DEK: a number, latest or -1',
    permission: { operation: 'read', on: 'kek and subject' },
    metric: 'deks.versions.get',
    params: versionInPath,
    querystring: query('algorithm', 'deleted'),
    response: { 200: dekEntity },
    errors: ['key_not_found', 'invalid_version', 'dek_generation_failed'],
    handler: (request, reply) => readDek(request, reply, request.params.version),
  })

  addEndpoint(app, {
    method: 'GET',
    url: `${DEK}/versions`,
    summary: 'Lists the versions of a DEK',
    permission: { operation: 'read', on: 'kek and subject' },
    metric: 'deks.versions.list',
    querystring: query('algorithm', 'deleted', 'offset', 'limit'),
    response: { 200: z.array(z.number().int()) },
    errors: ['key_not_found'],
    handler: async (request) => {
      const { algorithm, deleted, ...page } = request.query
      const kekName = readableKek(request, deleted)
      const versions = registry.view
        .dekVersions(kekName, dekSubjectIn(request, route), algorithm)
        .filter((dek) => deleted || !dek.deleted)
        .map(({ version }) => version)
      return paginate(versions, page, route.limits('dek.version'))
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: DEKS,
    summary: 'Creates a DEK for the subject in the body',
    permission: { operation: 'write', on: 'kek' },
    metric: 'deks.create',
    body: dekBody,
    response: { 200: dekEntity },
    errors: ['key_not_found', 'key_exists', 'too_many_keys', 'invalid_key', 'invalid_version', 'dek_generation_failed'],
    handler: async (request, reply) => {
      // Neither the alias nor the context of the path is applied to a subject in the body.
      const subject = checkedDekSubject(request, toSubject(request.body.subject ?? ''))
      return createDek(request, reply, request.body, subject, false)
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: DEK,
    summary: 'Creates a DEK for a subject',
    permission: { operation: 'write', on: 'kek and subject' },
    metric: 'deks.create',
    querystring: query('rewrap'),
    body: dekBody,
    response: { 200: dekEntity },
    errors: ['key_not_found', 'key_exists', 'too_many_keys', 'invalid_key', 'invalid_version', 'dek_generation_failed'],
    handler: async (request, reply) =>
      createDek(request, reply, request.body, dekSubjectIn(request, route), request.query.rewrap),
  })

  addEndpoint(app, {
    method: 'DELETE',
    url: DEK,
    summary: 'Deletes all versions of a DEK',
    permission: { operation: 'delete', on: 'kek and subject' },
    metric: 'deks.delete',
    querystring: query('algorithm', 'permanent'),
    response: { 204: noContent },
    errors: ['key_not_found', 'no_such_resource', 'key_not_soft_deleted'],
    handler: async (request, reply) => {
      const which = requestedDek(request)
      return change(request, reply, DELETE_KEY_MESSAGES, () => registry.deleteDeks(which, request.query.permanent))
    },
  })

  addEndpoint(app, {
    method: 'DELETE',
    url: VERSION,
    summary: 'Deletes one version of a DEK',
    permission: { operation: 'delete', on: 'kek and subject' },
    metric: 'deks.versions.delete',
    params: versionInPath,
    querystring: query('algorithm', 'permanent'),
    response: { 204: noContent },
    errors: ['key_not_found', 'invalid_version', 'key_not_soft_deleted'],
    handler: async (request, reply) => {
      const which = requestedDek(request)
      const { version } = request.params
      return change(request, reply, DELETE_KEY_MESSAGES, () =>
        registry.deleteDek(which, version, request.query.permanent),
      )
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: `${DEK}/undelete`,
    summary: 'Undeletes all soft-deleted versions of a DEK',
    permission: { operation: 'write', on: 'kek and subject' },
    metric: 'deks.undelete',
    querystring: query('algorithm'),
    response: { 204: noContent },
    errors: ['key_not_found', 'key_soft_deleted'],
    handler: async (request, reply) => {
      const which = requestedDek(request)
      return change(request, reply, UNDELETE_KEY_MESSAGES, () => registry.undeleteDeks(which))
    },
  })

  addEndpoint(app, {
    method: 'POST',
    url: `${VERSION}/undelete`,
    summary: 'Undeletes one soft-deleted version of a DEK',
    permission: { operation: 'write', on: 'kek and subject' },
    metric: 'deks.versions.undelete',
    params: versionInPath,
    querystring: query('algorithm'),
    response: { 204: noContent },
    errors: ['key_not_found', 'key_soft_deleted', 'invalid_version'],
    handler: async (request, reply) => {
      const which = requestedDek(request)
      const { version } = request.params
      return change(request, reply, UNDELETE_KEY_MESSAGES, () => registry.undeleteDek(which, version))
    },
  })

  /** The name of the KEK in the path. Throws `key_not_found`, and as `kekNameIn`. */
  function readableKek(request: FastifyRequest, deleted: boolean): string {
    const kekName = kekNameIn(request)
    return (deleted ? existingKek(registry.view, kekName) : liveKek(registry.view, kekName)).name
  }

  function requestedDek(request: FastifyRequest<{ Querystring: { algorithm: DekAlgorithm } }>): DekVersions {
    const kekName = kekNameIn(request)
    return { kekName, subject: dekSubjectIn(request, route), algorithm: request.query.algorithm }
  }

  async function readDek(
    request: FastifyRequest<{ Querystring: { algorithm: DekAlgorithm; deleted: boolean } }>,
    reply: FastifyReply,
    version: VersionNumber,
  ): Promise<ResponseBody<typeof dekEntity>> {
    const { algorithm, deleted } = request.query
    const which = { kekName: readableKek(request, deleted), subject: dekSubjectIn(request, route), algorithm }
    const dek = findDek(registry.view, which, version, { deleted })
    forbidCaching(reply)
    return dekResponse(await registry.withMaterial(dek))
  }

  function createDek(
    request: FastifyRequest,
    reply: FastifyReply,
    body: DekBody,
    subject: Subject,
    rewrap: boolean,
  ): Promise<ResponseBody<typeof dekEntity> | FastifyReply> {
    const kekName = kekNameIn(request)
    forbidCaching(reply)
    return route.onLeader(request, reply, CREATE_KEY_MESSAGES, async () =>
      dekResponse(await registry.createDek({ ...body, kekName, subject, rewrap })),
    )
  }

  function change(
    request: FastifyRequest,
    reply: FastifyReply,
    operation: WriteErrorMessages,
    act: () => Promise<void>,
  ): Promise<FastifyReply> {
    return route.onLeader(request, reply, operation, async () => {
      await act()
      return reply.code(204).send()
    })
  }
}

/** The response can contain the raw key. */
function forbidCaching(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
}
