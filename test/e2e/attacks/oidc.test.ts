import { base64url, decodeJwt, importJWK, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { AUDIENCE, type Issuer, startIssuer } from '../../support/issuer.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'
import { startTestWorker } from '../../support/worker.ts'

const CLIENTS = [
  { id: 'platform', roles: ['platform-admins'] },
  { id: 'reader', roles: ['everyone'] },
  { id: 'stranger' },
  { id: 'team', groups: ['team-orders'] },
]
const PERMISSIONS = {
  users: { 'oidc:stranger': [] },
  groups: {
    'team-orders': [
      { subjects: ['orders-*'], operations: ['read', 'write'] },
      { connectors: ['orders-*'], operations: ['read'] },
    ],
  },
}
let issuer: Issuer
let registry: TestRegistry

beforeAll(async () => {
  issuer = await startIssuer(CLIENTS)
  registry = await startTestRegistry(bearer())
})
afterAll(async () => {
  await registry.stop()
  await issuer.stop()
})

const bearer = (more: Readonly<Record<string, string>> = {}) => ({
  'authentication.method': 'BEARER',
  'oauthbearer.expected.issuer': issuer.url,
  'oauthbearer.expected.audience': AUDIENCE,
  'oauthbearer.roles.claim.name': 'realm_access.roles',
  'oauthbearer.roles.mapping': 'platform-admins=admin,everyone=readonly',
  ...more,
})

async function statusOf(token: string, url = registry.url, line = 'GET /subjects'): Promise<number> {
  return (await callAs(undefined, url, line, undefined, { authorization: `Bearer ${token}` })).status
}

async function start(settings: Readonly<Record<string, string>>): Promise<string> {
  const started = await startTestRegistry(settings)
  onTestFinished(() => started.stop())
  return started.url
}

async function otherIssuer(options?: Parameters<typeof startIssuer>[1]): Promise<Issuer> {
  const started = await startIssuer(CLIENTS, options)
  onTestFinished(() => started.stop())
  return started
}

/** A token with the issuer's own key: what the issuer itself would never make. */
async function signed(change: (claims: JWTPayload) => JWTPayload, key = issuer.key()): Promise<string> {
  const claims = change(decodeJwt(await issuer.token('platform')))
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid! }).sign(await importJWK(key, 'RS256'))
}

describe('a token of the configured issuer', () => {
  it('gives the role to which its claim is mapped', async () => {
    const [admin, reader, stranger] = await Promise.all(
      ['platform', 'reader', 'stranger'].map((id) => issuer.token(id)),
    )
    const body = { compatibility: 'NONE' }
    const put = async (token: string) =>
      (await callAs(undefined, registry.url, 'PUT /config', body, { authorization: `Bearer ${token}` })).status
    expect([await put(admin!), await put(reader!), await put(stranger!)]).toEqual([200, 403, 403])
    expect([await statusOf(reader!), await statusOf(stranger!)]).toEqual([200, 403])
  })

  it('gives the permissions of its groups, in the registry and in a worker', async () => {
    const log = await basicAuthSettings({ ada: 'admin' }, PERMISSIONS)
    const settings = { ...log, ...bearer({ 'authentication.method': 'BASIC,BEARER' }) }
    const team = await issuer.token('team')
    const url = await start(settings)
    const register = (subject: string) =>
      callAs(
        undefined,
        url,
        `POST /subjects/${subject}/versions`,
        { schema: '"int"' },
        { authorization: `Bearer ${team}` },
      )
    expect((await register('orders-1')).status).toBe(200)
    expect(await register('other')).toMatchObject({
      status: 403,
      body: { message: "User 'oidc:team' lacks the permission 'write' on the subject 'other'" },
    })
    const worker = await startTestWorker(settings)
    expect(await statusOf(team, worker.url, 'GET /connectors')).toBe(200)
    expect(await statusOf(team, worker.url, 'GET /connectors/other')).toBe(403)
    expect(await statusOf(team, worker.url, 'GET /connectors/orders-1')).toBe(404)
  })

  it('works together with passwords on one listener', async () => {
    const log = await basicAuthSettings({ ada: 'admin' })
    const url = await start({ ...log, ...bearer({ 'authentication.method': 'BASIC,BEARER' }) })
    expect((await callAs('ada', url, 'GET /subjects')).status).toBe(200)
    expect(await statusOf(await issuer.token('reader'), url)).toBe(200)
    const answer = await fetch(`${url}/subjects`)
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="SchemaRegistry", Basic realm="SchemaRegistry", charset="UTF-8"',
    ])
  })
})

describe('a token is rejected', () => {
  it('if it has expired', async () => {
    const brief = await otherIssuer({ secondsToLive: 2 })
    const url = await start(bearer({ 'oauthbearer.expected.issuer': brief.url, 'oauthbearer.clock.skew.seconds': '0' }))
    const token = await brief.token('reader')
    expect(await statusOf(token, url)).toBe(200)
    await expect.poll(() => statusOf(token, url)).toBe(401)
  })

  it('if it is of another issuer, also of one that claims the same name', async () => {
    const other = await otherIssuer()
    expect(await statusOf(await other.token('platform'))).toBe(401)
    const pretender = await otherIssuer({ pretends: issuer.url })
    expect(await statusOf(await pretender.token('platform'))).toBe(401)
  })

  it('if it is for another audience', async () => {
    expect(await statusOf(await issuer.token('platform', 'https://other.example'))).toBe(401)
    expect(await statusOf(await signed(({ aud: _, ...claims }) => claims))).toBe(401)
  })

  it.each<[what: string, change: (claims: JWTPayload) => JWTPayload]>([
    ['is not valid yet', (claims) => ({ ...claims, nbf: Math.ceil(Date.now() / 1_000) + 120 })],
    ['never expires', ({ exp: _, ...claims }) => claims],
    ['names no user', ({ sub: _, ...claims }) => claims],
    ['names no issuer', ({ iss: _, ...claims }) => claims],
  ])('that %s', async (_, change) => {
    expect(await statusOf(await signed((claims) => claims))).toBe(200)
    expect(await statusOf(await signed(change))).toBe(401)
  })

  it('if it has no signature, or a signature by HMAC with the public key', async () => {
    const payload = base64url.encode(JSON.stringify(decodeJwt(await issuer.token('platform'))))
    const none = base64url.encode(JSON.stringify({ alg: 'none', typ: 'at+jwt' }))
    const { n = '', kid = '' } = issuer.key()
    const secret = new TextEncoder().encode(n)
    const symmetric = await new SignJWT(decodeJwt(await issuer.token('platform')))
      .setProtectedHeader({ alg: 'HS256', kid })
      .sign(secret)
    const [head = '', body = ''] = (await issuer.token('platform')).split('.')
    const tokens = [
      `${none}.${payload}.`,
      `${none}.${payload}`,
      symmetric,
      `${head}.${body}.`,
      `${head}.${body}.AAAA`,
      'x',
      '..',
    ]
    for (const token of tokens) expect([token, await statusOf(token)]).toEqual([token, 401])
  })

  it('if it was changed after it was signed', async () => {
    const [head, body = '', signature] = (await issuer.token('reader')).split('.')
    const claims = decodeJwt(`${head}.${body}.${signature}`)
    const raised = base64url.encode(JSON.stringify({ ...claims, realm_access: { roles: ['platform-admins'] } }))
    expect(await statusOf(`${head}.${raised}.${signature}`)).toBe(401)
  })

  it('if its algorithm is not allowed', async () => {
    const url = await start(bearer({ 'oauthbearer.algorithms': 'ES256' }))
    expect(await statusOf(await issuer.token('reader'), url)).toBe(401)
  })
})

describe('the keys of the issuer', () => {
  it('are fetched again for a token with an unknown key, but not for each of many such tokens', async () => {
    const rotating = await otherIssuer()
    const url = await start(bearer({ 'oauthbearer.expected.issuer': rotating.url }))
    const before = await rotating.token('reader')
    expect(await statusOf(before, url)).toBe(200)
    await rotating.rotate()
    const after = await rotating.token('reader')
    await expect.poll(() => statusOf(after, url), { interval: 500 }).toBe(200)
    expect(await statusOf(before, url)).toBe(401)
    const fetched = () => rotating.asked.filter((path) => path.includes('jwks')).length
    const count = fetched()
    const foreign = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const header = base64url.encode(JSON.stringify({ alg: 'RS256', kid: `none ${i}` }))
        return statusOf(after.replace(/^[^.]+/, header), url)
      }),
    )
    expect(new Set(foreign)).toEqual(new Set([401]))
    expect(fetched() - count).toBeLessThanOrEqual(2)
  })

  it('that cannot be fetched admit no token, while passwords work', async () => {
    const away = await otherIssuer()
    const log = await basicAuthSettings({ ada: 'admin' })
    const settings = { 'authentication.method': 'BASIC,BEARER', 'oauthbearer.expected.issuer': away.url }
    const url = await start({ ...log, ...bearer(settings) })
    const token = await away.token('reader')
    away.fail(true)
    expect([await statusOf(token, url), await statusOf(token, url)]).toEqual([503, 503])
    expect(away.asked.filter((path) => path.includes('.well-known'))).toHaveLength(1)
    expect((await callAs('ada', url, 'GET /subjects')).status).toBe(200)
    away.fail(false)
    await expect.poll(() => statusOf(token, url), { interval: 500 }).toBe(200)
  })
})

describe('settings', () => {
  it.each([
    [{ 'oauthbearer.expected.audience': '' }, 'requires oauthbearer.expected.audience'],
    [{ 'oauthbearer.expected.issuer': '' }, 'requires an https URL for oauthbearer.expected.issuer'],
    [
      { 'oauthbearer.expected.issuer': 'http://issuer.example' },
      'requires an https URL for oauthbearer.expected.issuer',
    ],
    [
      { 'oauthbearer.jwks.endpoint.url': 'http://issuer.example/keys' },
      'requires an https URL for oauthbearer.jwks.endpoint.url',
    ],
    [{ 'oauthbearer.algorithms': 'HS256' }, 'expected some of RS256'],
    [{ 'oauthbearer.algorithms': 'none' }, 'expected some of RS256'],
    [{ 'oauthbearer.roles.mapping': 'a=boss' }, 'expected VALUE=ROLE with a role of none, readonly'],
    [{ 'authentication.method': 'NONE,BEARER' }, 'NONE cannot be combined'],
  ])('that would admit tokens of others are refused: %j', async (settings, message) => {
    await expect(startTestRegistry(bearer(settings))).rejects.toThrow(message)
  })
})
