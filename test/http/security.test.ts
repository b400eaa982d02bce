import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import type { AccessControl } from '../../src/http/access-control.ts'
import { Authentication } from '../../src/http/authentication.ts'
import { PasswordAuthenticator } from '../../src/http/password-authenticator.ts'
import { hashPassword } from '../../src/http/password-hash.ts'
import { type AclOperation, NO_POLICY } from '../../src/http/permissions.ts'
import { type HttpServer, type HttpServerOptions, startHttpServer } from '../../src/http/server.ts'
import { type Role, Users } from '../../src/http/users.ts'
import { tlsMaterial } from '../../src/tls/tls-material.ts'

const tls = (name: string) => join(import.meta.dirname, '../support/tls', name)
let server: HttpServer | undefined

async function start(options: Partial<HttpServerOptions>): Promise<string> {
  server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    consumes: ['application/json'],
    produces: ['application/json'],
    routes: (app) => {
      app.get('/schemas', async () => [])
      app.post('/schemas', async () => ({}))
      app.put('/mode', async () => ({}))
    },
    ...options,
  })
  return server.urls[0] ?? ''
}

afterEach(async () => {
  await server?.stop(0)
  server = undefined
})

describe('TLS listener', () => {
  const statusOf = (url: string, options: object) =>
    new Promise<number>((resolve, reject) => {
      get(`${url}/schemas`, { ...options, agent: false }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      }).on('error', reject)
    })
  const ca = () => ({ ...tlsMaterial({ 'ssl.truststore.location': tls('ca.pem') }) })

  it.each(['server.pem', 'server.p12'])('answers with the certificate of %s', async (store) => {
    const material = tlsMaterial({ 'ssl.keystore.location': tls(store), 'ssl.keystore.password': 'changeit' })
    const url = await start({ listeners: ['https://127.0.0.1:0'], tls: material })
    expect(await statusOf(url, ca())).toBe(200)
  })

  it('accepts only clients with a certificate when client authentication is required', async () => {
    const material = tlsMaterial({
      'ssl.keystore.location': tls('server.pem'),
      'ssl.truststore.location': tls('ca.pem'),
    })
    const url = await start({
      listeners: ['https://127.0.0.1:0'],
      tls: { ...material, requestCert: true, rejectUnauthorized: true },
    })
    await expect(statusOf(url, ca())).rejects.toThrow()
    const client = tlsMaterial({ 'ssl.keystore.location': tls('client.p12'), 'ssl.keystore.password': 'changeit' })
    expect(await statusOf(url, { ...ca(), ...client })).toBe(200)
  })

  it.each([
    [{ 'ssl.keystore.location': tls('old.jks') }, /JKS store.*keytool -importkeystore/],
    [{ 'ssl.keystore.location': tls('nowhere.pem') }, /ssl.keystore.location=.*ENOENT/],
    [{ 'ssl.keystore.location': tls('server.p12'), 'ssl.keystore.password': 'wrong' }, /cannot be used/],
    [{ 'ssl.keystore.location': tls('README.md') }, /neither PEM nor PKCS#12/],
    [{ 'ssl.truststore.location': tls('trust.p12') }, /the password is wrong.*ssl.truststore.password/],
  ])('explains why a keystore cannot be used: %#', (settings, message) => {
    expect(() => tlsMaterial(settings)).toThrow(message)
  })

  it('explains that it needs a certificate', async () => {
    await expect(start({ listeners: ['https://127.0.0.1:0'] })).rejects.toThrow('ssl.keystore.location')
  })
})

describe('basic authentication', () => {
  const OPERATIONS: Readonly<Record<string, AclOperation>> = { GET: 'read', POST: 'write', PUT: 'mode' }
  const ACCESS: Pick<AccessControl, 'kind' | 'policy' | 'check'> = {
    kind: 'subjects',
    policy: () => NO_POLICY,
    check: ({ method, rights }) => rights.requireAll(OPERATIONS[method]!),
  }
  const salt = Buffer.alloc(16, 7)
  const linesOf = async (users: Record<string, [string, Role]>) =>
    (
      await Promise.all(
        Object.entries(users).map(
          async ([name, [word, role]]) => `${name}: ${await hashPassword(word, salt)}, ${role}`,
        ),
      )
    ).join('\n')
  const as = (name: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
  })
  const logInOf = (realm: string) => new Authentication({ realm, passwords: new PasswordAuthenticator(users) })
  let lines: string
  let users: Users

  // Hashes are computed once, because one takes as long as a test.
  beforeAll(async () => {
    lines = await linesOf({ rea: ['r', 'readonly'], dev: ['d:d', 'developer'], ada: ['ä', 'admin'] })
  })
  beforeEach(() => {
    users = Users.fromText(`# people\n${lines}`, 'users')
  })

  it.each([
    ['rea', 'r', [200, 403, 403]],
    ['dev', 'd:d', [200, 200, 403]],
    ['ada', 'ä', [200, 200, 200]],
    ['dev', 'wrong', [401, 401, 401]],
    ['nobody', 'r', [401, 401, 401]],
  ])('grants %s/%s the permissions of the role', async (name, password, expected) => {
    const url = await start({ access: { authentication: logInOf('Weir'), ...ACCESS } })
    const call = async (method: string, path: string) =>
      (await fetch(url + path, { method, headers: as(name, password) })).status
    expect([await call('GET', '/schemas'), await call('POST', '/schemas'), await call('PUT', '/mode')]).toEqual(
      expected,
    )
  })

  it('requests credentials for its realm, and leaves the probes open', async () => {
    const url = await start({ access: { authentication: logInOf('The "Weir"'), ...ACCESS } })
    const response = await fetch(`${url}/schemas`)
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="The \\"Weir\\"", charset="UTF-8"',
    ])
    expect(await response.json()).toEqual({ error_code: 401, message: 'HTTP 401 Unauthorized' })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })

  it('responds with 429 to the eleventh attempt of a user, even with the correct password', async () => {
    const url = await start({ access: { authentication: logInOf('Weir'), ...ACCESS } })
    for (let i = 0; i < 10; i++) await fetch(`${url}/schemas`, { headers: as('ada', `guess${i}`) })
    const response = await fetch(`${url}/schemas`, { headers: as('ada', 'ä') })
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeOneOf(Array.from({ length: 60 }, (_, at) => at + 1))
  })

  it('names an invalid line of the user file without quoting it', () => {
    expect(() => Users.fromText('# a\nada: plain-secret, admin', 'users.txt')).toThrow(
      /^users.txt:2: expected NAME: scrypt(?!.*plain-secret)/,
    )
  })

  it('reloads a changed user file; an invalid file is ignored and the previous users stay in force', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'weir-users-'))
    const file = join(directory, 'users')
    try {
      await writeFile(file, await linesOf({ ada: ['one', 'admin'] }))
      const fromFile = Users.fromFile(file, silentLogger())
      expect(await fromFile.verify('ada', 'one')).toMatchObject({ role: 'admin' })
      await writeFile(file, await linesOf({ ada: ['two', 'readonly'] }))
      await vi.waitFor(async () => expect(await fromFile.verify('ada', 'two')).toMatchObject({ role: 'readonly' }), {
        timeout: 25_000,
      })
      expect(await fromFile.verify('ada', 'one')).toBeUndefined()
      await writeFile(file, 'broken')
      expect(await fromFile.verify('ada', 'two')).toMatchObject({ role: 'readonly' })
      fromFile.close()
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})
