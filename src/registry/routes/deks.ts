import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findDek, type VersionNumber } from '../dek/dek-commands.ts'
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
import { checkedDekSubject, dekSubjectIn, kekNameIn } from './key-authorization.ts'
import { dekResponse } from './key-response.ts'
import { type DekBody, dekVersionsOf, parseDek } from './parse-key-request.ts'
import { booleanParameter, paginate, parseVersion } from './parse-request.ts'
import { paramsOf, queryOf, type RouteContext } from './route-context.ts'

const DEKS = '/dek-registry/v1/keks/:name/deks'
const DEK = `${DEKS}/:subject`
const VERSION = `${DEK}/versions/:version`

/** `/dek-registry/v1/keks/{name}/deks`: data encryption keys, by subject, algorithm and version. */
export function dekRoutes(app: FastifyInstance, route: RouteContext, registry: DekRegistry): void {
  app.get(DEKS, { config: { metric: 'deks.list' } }, async (request) => {
    const kekName = readableKek(request, registry)
    const deleted = booleanParameter(queryOf(request), 'deleted')
    const isReadable = route.readable(request)
    const subjects = [...registry.view.deks(kekName)]
      .filter((dek) => (deleted || !dek.deleted) && isReadable(dek.subject))
      .map(({ subject }) => subject)
    return paginate([...new Set(subjects)].sort(), queryOf(request), route.limits('dek.subject'))
  })

  app.get(DEK, { config: { metric: 'deks.get' } }, (request, reply) => readDek(request, reply, FIRST_VERSION))
  app.get(VERSION, { config: { metric: 'deks.versions.get' } }, (request, reply) =>
    readDek(request, reply, versionIn(request)),
  )

  app.get(`${DEK}/versions`, { config: { metric: 'deks.versions.list' } }, async (request) => {
    const kekName = readableKek(request, registry)
    const { subject, algorithm } = dekVersionsOf(kekName, dekSubjectIn(request, route), request)
    const deleted = booleanParameter(queryOf(request), 'deleted')
    const versions = registry.view
      .dekVersions(kekName, subject, algorithm)
      .filter((dek) => deleted || !dek.deleted)
      .map(({ version }) => version)
    return paginate(versions, queryOf(request), route.limits('dek.version'))
  })

  app.post(DEKS, { config: { metric: 'deks.create' } }, async (request, reply) => {
    const body = parseDek(request.body)
    // Neither the alias nor the context of the path is applied to a subject in the body.
    const subject = checkedDekSubject(request, toSubject(body.subject ?? ''))
    return createDek(request, reply, body, subject, false)
  })
  app.post(DEK, { config: { metric: 'deks.create' } }, async (request, reply) => {
    const rewrap = booleanParameter(queryOf(request), 'rewrap')
    return createDek(request, reply, parseDek(request.body), dekSubjectIn(request, route), rewrap)
  })

  app.delete(DEK, { config: { metric: 'deks.delete' } }, async (request, reply) => {
    const which = dekVersionsOf(kekNameIn(request), dekSubjectIn(request, route), request)
    const permanent = booleanParameter(queryOf(request), 'permanent')
    return change(request, reply, DELETE_KEY_MESSAGES, () => registry.deleteDeks(which, permanent))
  })
  app.delete(VERSION, { config: { metric: 'deks.versions.delete' } }, async (request, reply) => {
    const which = dekVersionsOf(kekNameIn(request), dekSubjectIn(request, route), request)
    const version = versionIn(request)
    const permanent = booleanParameter(queryOf(request), 'permanent')
    return change(request, reply, DELETE_KEY_MESSAGES, () => registry.deleteDek(which, version, permanent))
  })

  app.post(`${DEK}/undelete`, { config: { metric: 'deks.undelete' } }, async (request, reply) => {
    const which = dekVersionsOf(kekNameIn(request), dekSubjectIn(request, route), request)
    return change(request, reply, UNDELETE_KEY_MESSAGES, () => registry.undeleteDeks(which))
  })
  app.post(`${VERSION}/undelete`, { config: { metric: 'deks.versions.undelete' } }, async (request, reply) => {
    const which = dekVersionsOf(kekNameIn(request), dekSubjectIn(request, route), request)
    const version = versionIn(request)
    return change(request, reply, UNDELETE_KEY_MESSAGES, () => registry.undeleteDek(which, version))
  })

  async function readDek(request: FastifyRequest, reply: FastifyReply, version: VersionNumber): Promise<object> {
    const kekName = readableKek(request, registry)
    const which = dekVersionsOf(kekName, dekSubjectIn(request, route), request)
    const deleted = booleanParameter(queryOf(request), 'deleted')
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
  ): Promise<unknown> {
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
  ): Promise<unknown> {
    return route.onLeader(request, reply, operation, async () => {
      await act()
      return reply.code(204).send()
    })
  }
}

/** The name of the KEK in the path. Throws `key_not_found`, and as `kekNameIn`. */
function readableKek(request: FastifyRequest, { view }: DekRegistry): string {
  const kekName = kekNameIn(request)
  return (booleanParameter(queryOf(request), 'deleted') ? existingKek(view, kekName) : liveKek(view, kekName)).name
}

function versionIn(request: FastifyRequest): VersionNumber {
  return parseVersion(paramsOf(request)['version'] ?? '')
}

/** The response can contain the raw key. */
function forbidCaching(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
}
