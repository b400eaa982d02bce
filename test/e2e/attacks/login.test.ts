import { once } from 'node:events'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { hashPassword } from '../../../src/http/password-hash.ts'
import { tlsMaterial } from '../../../src/tls/tls-material.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { startTestWorker } from '../../support/worker.ts'

const tls = (name: string) => join(import.meta.dirname, '../../support/tls', name)
const HTTPS = {
  listeners: 'https://127.0.0.1:0',
  'ssl.keystore.location': tls('server-rsa.pem'),
}
const NAMES = ['ada', 'bob', 'eve']
let users: string

beforeAll(async () => {
  const lines = NAMES.map(async (name) => `${name}: ${await hashPassword(`${name}'s word`)}, admin`)
  users = (await Promise.all(lines)).join('\n')
})

const basic = () => ({ 'authentication.method': 'BASIC', 'weir.authentication.users': users })
const as = (name: string, password = `${name}'s word`) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})

async function registry(settings: Readonly<Record<string, string>> = {}): Promise<string> {
  const started = await startTestRegistry({ ...basic(), ...settings })
  onTestFinished(() => started.stop())
  return started.url
}

const statusOf = async (url: string, headers: Record<string, string>) => {
  const answer = await fetch(`${url}/subjects`, { headers })
  await answer.arrayBuffer()
  return answer.status
}

describe('the limit of login attempts', () => {
  it('verifies ten of 300 wrong passwords sent at once, and admits other users of the same address meanwhile', async () => {
    const url = await registry()
    const guesses = Array.from({ length: 300 }, (_, i) => statusOf(url, as('ada', `guess ${i}`)))
    expect(await statusOf(url, as('bob'))).toBe(200)
    const answers = await Promise.all(guesses)
    expect(answers.filter((status) => status === 401)).toHaveLength(10)
    expect(answers.filter((status) => status === 429)).toHaveLength(290)
    expect([await statusOf(url, as('ada')), await statusOf(url, as('eve'))]).toEqual([429, 200])
  })

  it('refuses a correct, cached password after the limit as well', async () => {
    const url = await registry()
    expect(await statusOf(url, as('ada'))).toBe(200)
    for (let i = 0; i < 10; i++) await statusOf(url, as('ada', `guess ${i}`))
    expect(await statusOf(url, as('ada'))).toBe(429)
  })

  it('counts a password that a program sends many times at once as one attempt', async () => {
    const url = await registry()
    const answers = await Promise.all(Array.from({ length: 50 }, () => statusOf(url, as('ada'))))
    expect(new Set(answers)).toEqual(new Set([200]))
  })

  it('bounds the password hashes for many user names, and admits users with a correct password meanwhile', async () => {
    const url = await registry()
    const flood = Array.from({ length: 120 }, (_, i) => statusOf(url, as(`nobody ${i}`, 'x')))
    const retried = async (): Promise<number> => {
      const status = await statusOf(url, as('bob'))
      return status === 503 ? retried() : status
    }
    expect(await retried()).toBe(200)
    const answers = await Promise.all(flood)
    // Two are hashed and 32 wait; requests beyond that are rejected before they cost anything.
    expect(answers).toContain(503)
    expect(answers.every((status) => [401, 429, 503].includes(status))).toBe(true)
  })
})

describe('a web page of another origin', () => {
  it.each<[what: string, headers: Record<string, string>]>([
    ['a form', { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' }],
    ['a body of text', { origin: 'https://evil.example', 'content-type': 'text/plain' }],
    ['a body of JSON', { origin: 'https://evil.example', 'content-type': 'application/json' }],
    ['a body without a type', { origin: 'https://evil.example' }],
    ['a body without a type, from a browser that names no origin', {}],
    ['a body of JSON, as its browser says', { 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' }],
  ])('cannot change anything by %s with the password of its user', async (_, headers) => {
    const url = await registry()
    const body = new Blob(['{"schema": "\\"int\\""}'])
    const sent = { method: 'POST', headers: { ...as('ada'), ...headers }, body }
    expect((await fetch(`${url}/subjects/s/versions`, sent)).status).toBeOneOf([403, 415])
    expect(await (await fetch(`${url}/subjects`, { headers: as('ada') })).json()).toEqual([])
    const worker = await startTestWorker(basic())
    expect((await fetch(`${worker.url}/connectors`, sent)).status).toBeOneOf([403, 415])
  })
})

describe('a TLS listener', () => {
  /** The cipher suite that a server and a client with only these agree on, or why they don't. */
  async function agreed(url: string, ciphers: string): Promise<string> {
    const options = {
      ...tlsMaterial({ 'ssl.truststore.location': tls('server-rsa.pem') }),
      ciphers,
      maxVersion: 'TLSv1.2' as const,
    }
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), ...options })
    try {
      await once(socket, 'secureConnect')
      return socket.getCipher().name
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? ''
    } finally {
      socket.destroy()
    }
  }
  const REFUSED = 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE'

  it('offers no key exchange without forward secrecy unless ssl.cipher.suites names one', async () => {
    const { url: worker } = await startTestWorker(HTTPS)
    for (const url of [await registry(HTTPS), worker]) {
      expect(await agreed(url, 'AES128-GCM-SHA256')).toBe(REFUSED)
      expect(await agreed(url, 'AES256-SHA')).toBe(REFUSED)
      expect(await agreed(url, 'ECDHE-RSA-AES128-SHA')).toBe(REFUSED)
      expect(await agreed(url, 'ECDHE-RSA-AES256-GCM-SHA384')).toBe('ECDHE-RSA-AES256-GCM-SHA384')
    }
    const old = await registry({ ...HTTPS, 'ssl.cipher.suites': 'TLS_RSA_WITH_AES_128_GCM_SHA256' })
    expect(await agreed(old, 'AES128-GCM-SHA256')).toBe('AES128-GCM-SHA256')
    const newest = await registry({ ...HTTPS, 'ssl.enabled.protocols': 'TLSv1.3' })
    expect(await agreed(newest, 'ECDHE-RSA-AES256-GCM-SHA384')).toContain('PROTOCOL_VERSION')
  })
})

describe('requests between workers', () => {
  it('are rejected without a signature if authentication is configured', async () => {
    const { url } = await startTestWorker(basic())
    for (const [method, path] of [
      ['POST', '/connectors/c/tasks'],
      ['PUT', '/connectors/c/fence'],
    ]) {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${url}${path}`, { method: method!, headers, body: '[]' })
      expect([path, answer.status]).toEqual([path, 400])
      const signed = {
        ...headers,
        'x-connect-authorization': 'AAAA',
        'x-connect-request-signature-algorithm': 'HmacSHA256',
      }
      expect((await fetch(`${url}${path}`, { method: method!, headers: signed, body: '[]' })).status).toBe(403)
    }
  })

  it('cannot be unsigned by connect.protocol=compatible if a login is configured', async () => {
    await expect(startTestWorker({ ...basic(), 'connect.protocol': 'compatible' })).rejects.toThrow(
      'set connect.protocol=sessioned on every worker',
    )
  })
})
