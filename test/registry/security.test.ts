import { once } from 'node:events'
import { copyFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { hashPassword } from '../../src/http/password-hash.ts'
import { ROLES, type Role } from '../../src/http/users.ts'
import { tlsMaterial } from '../../src/tls/tls-material.ts'
import { startTestRegistry, type TestFaults, type TestRegistry } from '../support/registry.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const store = (name: string) => join(import.meta.dirname, '../support/tls', name)
const SERVER = { 'ssl.keystore.location': store('server.p12'), 'ssl.keystore.password': 'changeit' }
const TRUST = { 'ssl.truststore.location': store('ca.pem') }
const HTTPS = { listeners: 'https://127.0.0.1:0', ...SERVER, ...TRUST }
const INT = { schema: '"int"' }
let users: string

beforeAll(async () => {
  const lines = ROLES.map(async (role) => `${role}-person: ${await hashPassword(`${role}-word`)}, ${role}`)
  users = (await Promise.all(lines)).join('\n')
})

const basic = () => ({ 'authentication.method': 'BASIC', 'weir.authentication.users': users })
const as = (role: Role) => ({
  authorization: `Basic ${Buffer.from(`${role}-person:${role}-word`).toString('base64')}`,
})

async function start(settings: Readonly<Record<string, string>>, faults: TestFaults = {}): Promise<TestRegistry> {
  const registry = await startTestRegistry(settings, faults)
  onTestFinished(() => registry.stop())
  return registry
}

type Answer = { readonly status: number; readonly body: unknown }

/** Sends a request on a new connection. With https, it trusts the CA of the tests; `tls` can contain a client certificate. */
function call(url: string, line: string, headers: object = {}, body?: unknown, tls: object = {}): Promise<Answer> {
  const [method = '', path = ''] = line.split(' ')
  if (url.startsWith('http:')) return plainCall(url + path, method, headers, body)
  const agent = new Agent({ ...tlsMaterial(TRUST), ...tls })
  return new Promise((resolve, reject) => {
    const json = { 'content-type': 'application/json' }
    const outgoing = request(`${url}${path}`, { method, agent, headers: { ...json, ...headers } }, async (response) => {
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(await text(response)) })
      agent.destroy()
    })
    outgoing.on('error', reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

async function plainCall(url: string, method: string, headers: object, body: unknown): Promise<Answer> {
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(url, { method, headers: { ...json, ...headers }, ...sent })
  const answered = await response.text()
  return { status: response.status, body: answered === '' ? undefined : JSON.parse(answered) }
}

describe('the roles', () => {
  // All rows share one registry, because it caches successful logins and checking a password is slow on purpose.
  let registry: TestRegistry
  beforeAll(async () => {
    registry = await startTestRegistry(basic())
  })
  afterAll(() => registry.stop())

  const ALL_ROLES: readonly Role[] = ['readonly', 'developer', 'admin']
  const DEVELOPERS: readonly Role[] = ['developer', 'admin']
  const ADMINS: readonly Role[] = ['admin']

  it.each<[line: string, body: unknown, allowed: readonly Role[]]>([
    ['GET /subjects', undefined, ALL_ROLES],
    ['GET /config', undefined, ALL_ROLES],
    ['GET /schemas/ids/1', undefined, ALL_ROLES],
    ['POST /subjects/s', INT, ALL_ROLES],
    ['POST /compatibility/subjects/s/versions', INT, ALL_ROLES],
    ['POST /compatibility/subjects/s/versions/latest', INT, ALL_ROLES],
    ['POST /subjects/s/versions', INT, DEVELOPERS],
    ['POST /contexts/.c/subjects/s/versions', INT, DEVELOPERS],
    ['POST /subjects/importing/versions', { ...INT, id: 7 }, ADMINS],
    ['POST /subjects/s/versions/1/tags', { metadata: { properties: { a: 'b' } } }, DEVELOPERS],
    ['POST /subjects/importing/versions/1/tags', {}, ADMINS],
    ['DELETE /subjects/s/versions/1', undefined, DEVELOPERS],
    ['DELETE /subjects/s', undefined, DEVELOPERS],
    ['DELETE /subjects/s?permanent=true', undefined, ADMINS],
    ['DELETE /subjects/s/versions/1?permanent=true', undefined, ADMINS],
    ['PUT /config', { compatibility: 'NONE' }, ADMINS],
    ['PUT /config/s', { compatibility: 'NONE' }, ADMINS],
    ['DELETE /config/s', undefined, ADMINS],
    ['PUT /mode', { mode: 'READONLY' }, ADMINS],
    ['DELETE /mode/s', undefined, ADMINS],
    ['DELETE /contexts/.c', undefined, ADMINS],
  ])('%s with body %j is allowed for %j only', { tags: ['slow'] }, async (line, body, allowed) => {
    const { url } = registry
    registry.reset()
    await call(url, 'PUT /mode/importing', as('admin'), { mode: 'IMPORT' })
    await call(url, 'POST /subjects/s/versions', as('admin'), INT)
    for (const role of ROLES) {
      const { status } = await call(url, line, as(role), body)
      expect([role, status === 403], `${role} got ${status}`).toEqual([role, !allowed.includes(role)])
      expect(status).not.toBe(401)
    }
  })

  it('require authentication, except for probes and authentication.skip.paths', { tags: ['slow'] }, async () => {
    const { url } = await start({
      ...basic(),
      'authentication.realm': 'Schemas',
      'authentication.skip.paths': '/v1/*,/',
    })
    const answer = await fetch(`${url}/subjects`)
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="Schemas", charset="UTF-8"',
    ])
    for (const path of ['/metrics', '/v1', '/subjects?x=/v1/y']) expect((await fetch(url + path)).status).toBe(401)
    for (const path of ['/', '/v1/metadata/version', '/healthz', '/readyz']) {
      expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
    }
  })

  it('not in authentication.roles get a 403', async () => {
    const { url } = await start({ ...basic(), 'authentication.roles': 'admin, developer' })
    expect(await call(url, 'GET /subjects', as('developer'))).toEqual({ status: 200, body: [] })
    expect(await call(url, 'GET /subjects', as('readonly'))).toEqual({
      status: 403,
      body: { error_code: 403, message: "User 'readonly-person' has the role readonly, which may not use this server" },
    })
  })

  it('are validated at the start with an error that contains no password', async () => {
    const wrong = startTestRegistry({
      'authentication.method': 'BASIC',
      'weir.authentication.users': 'ada: hunter2, admin',
    })
    await expect(wrong).rejects.toThrow(/^weir.authentication.users:1: expected NAME: scrypt(?!.*hunter2)/)
  })
})

describe('a follower', { tags: ['slow'] }, () => {
  it('forwards a write over TLS with the credentials of the caller', async () => {
    const leader = await start({ ...basic(), ...HTTPS })
    // The follower has no authentication; the leader checks the permission.
    const follower = await start(TRUST, { leaderUrl: leader.url })
    const write = (headers: object) => call(follower.url, 'POST /subjects/s/versions', headers, INT)
    expect(await write({})).toMatchObject({ status: 401, body: { error_code: 401 } })
    expect(await write(as('readonly'))).toMatchObject({ status: 403, body: { error_code: 403 } })
    expect(await write(as('developer'))).toMatchObject({ status: 200, body: { id: 1, version: 1 } })
    expect(await call(leader.url, 'GET /subjects', as('readonly'))).toEqual({ status: 200, body: ['s'] })
  })

  it('presents its client certificate to a leader that requires one', async () => {
    const leader = await start({ ...HTTPS, 'ssl.client.authentication': 'REQUIRED' })
    const client = { 'ssl.keystore.location': store('client.p12'), 'ssl.keystore.password': 'changeit' }
    const anonymous = await start(TRUST, { leaderUrl: leader.url })
    expect(await call(anonymous.url, 'POST /subjects/s/versions', {}, INT)).toEqual({
      status: 500,
      body: { error_code: 50003, message: 'Error while forwarding register schema request to the leader' },
    })
    const follower = await start({ ...TRUST, ...client }, { leaderUrl: leader.url })
    expect(await call(follower.url, 'POST /subjects/s/versions', {}, INT)).toMatchObject({ status: 200 })
  })

  it('reloads a changed truststore without a restart', async () => {
    const leader = await start(HTTPS)
    const file = join(temporaryDirectory(), 'truststore.pem')
    await copyFile(store('client.pem'), file)
    const follower = await start({ 'ssl.truststore.location': file }, { leaderUrl: leader.url })
    const write = () => call(follower.url, 'POST /subjects/s/versions', {}, INT)
    expect(await write()).toMatchObject({ body: { error_code: 50003 } })
    await copyFile(store('ca.pem'), file)
    await vi.waitFor(async () => expect(await write()).toMatchObject({ status: 200 }), { timeout: 25_000 })
  })

  it('checks the host name of the leader’s certificate, unless endpoint identification is disabled', async () => {
    const leader = await start({ ...SERVER, listeners: 'https://127.0.0.2:0' })
    const options = { leaderUrl: leader.url }
    const strict = await start(TRUST, options)
    expect(await call(strict.url, 'POST /subjects/s/versions', {}, INT)).toMatchObject({ body: { error_code: 50003 } })
    const loose = await start({ ...TRUST, 'ssl.endpoint.identification.algorithm': '' }, options)
    expect(await call(loose.url, 'POST /subjects/s/versions', {}, INT)).toMatchObject({ status: 200 })
  })

  it('returns 50003 if the leader does not respond within leader.read.timeout.ms', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((listening) => silent.once('listening', listening))
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as { port: number }
    const settings = { 'leader.read.timeout.ms': '50' }
    const follower = await start(settings, { leaderUrl: `http://127.0.0.1:${port}` })
    expect(await call(follower.url, 'POST /subjects/s/versions', {}, INT)).toMatchObject({
      body: { error_code: 50003 },
    })
  })
})

describe('listeners', () => {
  it('can have different schemes', async () => {
    const { urls } = await start({ ...HTTPS, listeners: 'http://127.0.0.1:0,https://127.0.0.1:0' })
    expect(urls.map((url) => url.split(':')[0])).toEqual(['http', 'https'])
    for (const url of urls) expect(await call(url, 'GET /subjects')).toEqual({ status: 200, body: [] })
  })

  it.each([
    ['NONE', true],
    ['REQUESTED', true],
    ['REQUIRED', false],
  ])(
    'with ssl.client.authentication=%s accept a client without a certificate: %s',
    { tags: ['slow'] },
    async (client, isAccepted) => {
      const { url } = await start({ ...HTTPS, 'ssl.client.authentication': client })
      const answer = call(url, 'GET /subjects')
      await (isAccepted ? expect(answer).resolves.toMatchObject({ status: 200 }) : expect(answer).rejects.toThrow())
      const certificate = tlsMaterial({ 'ssl.keystore.location': store('client.pem') })
      expect(await call(url, 'GET /subjects', {}, undefined, certificate)).toMatchObject({ status: 200 })
    },
  )

  it('present a renewed certificate to new connections and keep open connections', async () => {
    const file = join(temporaryDirectory(), 'server.pem')
    await copyFile(store('server.pem'), file)
    const { url } = await start({ listeners: 'https://127.0.0.1:0', 'ssl.keystore.location': file })
    const connected = async (): Promise<TLSSocket> => {
      const socket = connect({ ...tlsMaterial(TRUST), host: '127.0.0.1', port: Number(new URL(url).port) })
      onTestFinished(() => void socket.destroy())
      await once(socket, 'secureConnect')
      return socket
    }
    const shown = async () => (await connected()).getPeerCertificate().subject.CN
    const open = await connected()
    expect(await shown()).toBe('server')
    await copyFile(store('client.pem'), file)
    await vi.waitFor(async () => expect(await shown()).toBe('client'), { timeout: 25_000 })
    open.write('GET /subjects HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    expect(await text(open)).toMatch(/^HTTP\/1.1 200 /)
  })

  it('with https require a certificate', async () => {
    await expect(startTestRegistry({ listeners: 'https://127.0.0.1:0' })).rejects.toThrow('ssl.keystore.location')
  })
})
