import { get } from 'node:https'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hashPassword } from '../../src/http/password-hash.ts'
import { tlsMaterial } from '../../src/tls/tls-material.ts'
import { workerSettings } from '../../src/worker/settings.ts'
import { freePort } from '../env/ports.ts'
import { startTestWorker } from '../support/worker.ts'

const SOURCE = { 'connector.class': 'FileStreamSource', topic: 'lines', file: 'none.txt' }

describe('authentication', () => {
  it('allows each role exactly its operations', async () => {
    const users = await usersOf({ eye: 'readonly', dev: 'developer', root: 'admin' })
    const login = { 'authentication.method': 'BASIC', 'weir.authentication.users': users }
    const { url } = await startTestWorker({ ...login, 'connector.paths.allowed': '/' })
    const ask = async (user: string | undefined, method: string, path: string, body?: unknown) => {
      const authorization = `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`
      const headers = { 'content-type': 'application/json', ...(user ? { authorization } : {}) }
      const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      return (await fetch(`${url}${path}`, sent)).status
    }
    const config = { ...SOURCE, name: 'c' }
    expect(await ask(undefined, 'GET', '/connectors')).toBe(401)
    expect(await ask('nobody', 'GET', '/connectors')).toBe(401)
    expect(await ask('eye', 'GET', '/connectors')).toBe(200)
    expect(await ask('eye', 'PUT', '/connector-plugins/FileStreamSource/config/validate', config)).toBe(200)
    const created = { name: 'c', config, initial_state: 'STOPPED' }
    expect(await ask('eye', 'POST', '/connectors', created)).toBe(403)
    expect(await ask('dev', 'POST', '/connectors', created)).toBe(201)
    expect(await ask('dev', 'PUT', '/connectors/c/stop')).toBe(204)
    expect(await ask('dev', 'DELETE', '/connectors/c/offsets')).toBe(403)
    expect(await ask('dev', 'PUT', '/admin/loggers/root', { level: 'INFO' })).toBe(403)
    expect(await ask('dev', 'DELETE', '/connectors/c')).toBe(403)
    expect(await ask('root', 'PUT', '/admin/loggers/root', { level: 'INFO' })).toBe(200)
    expect(await ask('root', 'DELETE', '/connectors/c')).toBe(204)
    // Requests between workers are signed instead.
    expect(await ask(undefined, 'POST', '/connectors/c/tasks', [])).toBe(400)
  })

  it('accepts unsigned requests between workers only if inter.worker.requests.unsigned=allow', async () => {
    const basic = { 'authentication.method': 'BASIC', 'weir.authentication.users': await usersOf({ root: 'admin' }) }
    const compatible = { ...basic, 'connect.protocol': 'compatible' }
    const parse = (settings: Record<string, string>) =>
      workerSettings(Object.entries(settings).map(([key, value]) => ({ key, value, source: 'here' })))
    expect(() => parse(compatible)).toThrow(/connect.protocol=sessioned.*inter.worker.requests.unsigned=allow/)
    const allowed = { ...compatible, 'inter.worker.requests.unsigned': 'allow' }
    expect(parse(allowed).warnings).toEqual([expect.stringContaining('anyone can send them')])
    const { url } = await startTestWorker(allowed)
    const json = { 'content-type': 'application/json' }
    const sent = { method: 'POST', headers: json, body: '[]' }
    expect((await fetch(`${url}/connectors/c/tasks`, sent)).status).not.toBeOneOf([400, 401, 403])
  })

  it('requires users or an issuer, and REST extensions are rejected', () => {
    const settings = (key: string, value: string) => () => workerSettings([{ key, value, source: 'here' }])
    expect(settings('authentication.method', 'BASIC')).toThrow('requires either weir.authentication.users.file')
    expect(settings('rest.extension.classes', 'a.b.BasicAuth')).toThrow('set authentication.method=BASIC')
  })
})

it.each(['', 'listeners.https.'])('HTTPS uses the certificate of the settings %sssl.*', async (prefix) => {
  const { url } = await startTestWorker({
    listeners: 'https://127.0.0.1:0',
    [`${prefix}ssl.keystore.location`]: tls('server.pem'),
    [`${prefix}ssl.keystore.password`]: 'changeit',
  })
  const ca = tlsMaterial({ 'ssl.truststore.location': tls('ca.pem') })
  const status = await new Promise((resolve, reject) => {
    get(`${url}/connectors`, { ...ca, agent: false }, (response) => resolve(response.resume().statusCode)).on(
      'error',
      reject,
    )
  })
  expect(status).toBe(200)
})

it('CORS allows the configured origins, and responses have the configured headers', async () => {
  const { url } = await startTestWorker({
    'access.control.allow.origin': 'https://ui.example',
    'access.control.allow.methods': 'GET,PUT',
    'response.http.headers.config': 'set X-Frame-Options: DENY, "add Cache-Control: no-cache, no-store"',
  })
  const answer = await fetch(url, { headers: { origin: 'https://ui.example' } })
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'access-control-allow-origin': 'https://ui.example',
    'x-frame-options': 'DENY',
    'cache-control': 'no-cache, no-store',
  })
  const headers = { origin: 'https://ui.example', 'access-control-request-method': 'PUT' }
  const asked = await fetch(`${url}/connectors`, { method: 'OPTIONS', headers })
  expect(asked.headers.get('access-control-allow-methods')).toBe('GET,PUT')
})

describe('loggers', () => {
  it('are served on admin.listeners only, or nowhere if it is empty', async () => {
    const admin = `http://127.0.0.1:${await freePort()}`
    const { url } = await startTestWorker({ 'admin.listeners': admin })
    const statuses = await Promise.all([url, admin].map(async (at) => (await fetch(`${at}/admin/loggers`)).status))
    expect(statuses).toEqual([404, 200])
    expect((await fetch(`${admin}/connectors`)).status).toBe(404)
    const nowhere = await startTestWorker({ 'admin.listeners': '' })
    expect((await fetch(`${nowhere.url}/admin/loggers`)).status).toBe(404)
  })

  it('are set on all workers through the config topic', async () => {
    const { url } = await startTestWorker()
    const set = await fetch(`${url}/admin/loggers/weir.worker?scope=cluster`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"level":"ERROR"}',
    })
    expect(set.status).toBe(204)
    expect(await (await fetch(`${url}/admin/loggers/weir.worker.tasks`)).json()).toMatchObject({ level: 'ERROR' })
  })
})

async function usersOf(roles: Readonly<Record<string, string>>): Promise<string> {
  const lines = Object.entries(roles).map(async ([name, role]) => `${name}: ${await hashPassword(name)}, ${role}`)
  return (await Promise.all(lines)).join('\n')
}

function tls(name: string): string {
  return join(import.meta.dirname, '../support/tls', name)
}
