import { readFileSync } from 'node:fs'
import { createServer, type ServerOptions } from 'node:https'
import { type AddressInfo, createServer as createPortServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { avroConverter } from '../../../src/plugins/converters/avro/avro-converter.ts'
import { openRegistry } from '../../../src/plugins/converters/registry-access.ts'
import { INT32, parseConfig, type Schema, STRING, struct, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { startHttpServer } from '../../support/http-server.ts'
import { startTestRegistry } from '../../support/registry.ts'

const file = (name: string) => join(import.meta.dirname, '../../support/tls', name)
const pem = (name: string) => readFileSync(file(name), 'utf8')
type Config = Readonly<Record<string, string>>
const opened = (url: string, config: Config = {}) =>
  openRegistry(parseConfig(avroConverter.config, { 'schema.registry.url': url, ...config }), UNRESTRICTED)
const SSL = 'schema.registry.ssl.'
const TRUST = { [`${SSL}truststore.location`]: file('ca.pem') }

describe('the registry client of a converter', () => {
  it.each<[string, Config, string | undefined]>([
    ['no credentials', {}, undefined],
    ['basic.auth.user.info', { 'basic.auth.user.info': 'ada:a:b' }, 'Basic YWRhOmE6Yg=='],
    [
      'the deprecated schema.registry.basic.auth.user.info',
      { 'schema.registry.basic.auth.user.info': 'ada:b' },
      'Basic YWRhOmI=',
    ],
    ['a bearer token', { 'bearer.auth.credentials.source': 'STATIC_TOKEN', 'bearer.auth.token': 't' }, 'Bearer t'],
  ])('authenticates with %s', async (_who, config, authorization) => {
    const server = await startHttpServer(() => ({ status: 200, body: '[]' }))
    const source: Config = authorization?.startsWith('Basic') ? { 'basic.auth.credentials.source': 'USER_INFO' } : {}
    await opened(server.url, { ...config, ...source }).subjects()
    expect(server.seen[0]?.headers.authorization).toBe(authorization)
  })

  it('authenticates with the credentials in the URL, and hides them in errors', async () => {
    const server = await startHttpServer(() => ({ status: 500 }))
    const asked = opened(server.url.replace('//', '//ada:b%40@')).subjects()
    await expect(asked).rejects.toThrow(expect.not.stringContaining('ada') as string)
    expect(server.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('ada:b@').toString('base64')}`)
  })

  it('uses the next URL if one is unavailable, but not after an error response', async () => {
    const gone = await closedPort()
    const refusing = await startHttpServer(() => ({ status: 404, body: '{"error_code":40401,"message":"none"}' }))
    const last = await startHttpServer(() => ({ status: 200, body: '["s"]' }))
    expect(await opened(`${gone},${last.url}`).subjects()).toEqual(['s'])
    await expect(opened(`${gone},${refusing.url},${last.url}`).subjects()).rejects.toMatchObject({ errorCode: 40401 })
    expect(last.seen).toHaveLength(1)
    await expect(opened(`${gone},${gone}`).subjects()).rejects.toMatchObject({ status: 0 })
  })

  it('limits requests to http.read.timeout.ms', async () => {
    const server = await startHttpServer(() => new Promise(() => {}))
    await expect(opened(server.url, { 'http.read.timeout.ms': '20' }).subjects()).rejects.toThrow('timeout')
  })

  it.each<[string, Config]>([
    ['files', { ...TRUST, [`${SSL}keystore.location`]: file('client.pem') }],
    [
      'PKCS#12 files',
      {
        [`${SSL}truststore.location`]: file('trust.p12'),
        [`${SSL}truststore.password`]: 'changeit',
        [`${SSL}keystore.location`]: file('client.p12'),
        [`${SSL}keystore.password`]: 'changeit',
      },
    ],
    [
      'the configuration itself',
      {
        [`${SSL}truststore.certificates`]: pem('ca.pem'),
        [`${SSL}keystore.certificate.chain`]: pem('client.pem'),
        [`${SSL}keystore.key`]: pem('client.pem'),
      },
    ],
  ])('uses certificates from %s', async (_where, config) => {
    const url = await startSecure('127.0.0.1', { ca: pem('ca.pem'), requestCert: true, rejectUnauthorized: true })
    expect(await opened(url, config).subjects()).toEqual(['secure'])
    await expect(opened(url, TRUST).subjects()).rejects.toMatchObject({ status: 0 })
    await expect(opened(url).subjects()).rejects.toThrow(/certificate/)
  })

  it('accepts a certificate for another host name only if verification is disabled for this client', async () => {
    const url = await startSecure('127.0.0.2')
    const checked = () => opened(url, TRUST).subjects()
    await expect(checked()).rejects.toThrow(/does not match/)
    const unchecked = { ...TRUST, [`${SSL}endpoint.identification.algorithm`]: '' }
    expect(await opened(url, unchecked).subjects()).toEqual(['secure'])
    await expect(checked()).rejects.toThrow(/does not match/)
  })

  it('describes how to convert a JKS store in the error', () => {
    const config = { [`${SSL}truststore.location`]: file('old.jks') }
    expect(() => opened('https://127.0.0.1:1', config)).toThrow(/JKS store.*keytool -importkeystore/)
  })

  it.each([
    [{ 'basic.auth.credentials.source': 'SASL_INHERIT' }, /SASL_INHERIT/],
    [{ 'bearer.auth.credentials.source': 'OAUTHBEARER' }, /OAUTHBEARER/],
    [{ 'value.schema.id.serializer': 'x.HeaderSchemaIdSerializer' }, /ids in headers are not supported/],
  ])('rejects the unsupported option %s', (config, message) => {
    expect(() => opened('http://127.0.0.1:1', config)).toThrow(message)
  })
})

describe('use.schema.id', () => {
  const write = (url: string, schema: Schema, value: unknown, config: Config) =>
    avroConverter
      .create(parseConfig(avroConverter.config, { 'schema.registry.url': url, ...config }), {
        ...UNRESTRICTED,
        isKey: false,
      })
      .fromConnect('t', schema, value) as Promise<Buffer>

  it('writes with the schema of that id if it is compatible with the schema of the records', {
    tags: ['slow'],
  }, async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const wide = '{"type":"record","name":"R","fields":[{"name":"n","type":"long"}]}'
    const { body } = await registry.call('POST', '/subjects/other/versions', { schema: wide })
    const { id } = body as { id: number }
    const config = { 'auto.register.schemas': 'false', 'use.schema.id': String(id) }
    const record = struct('R', { n: INT32 })
    const bytes = await write(registry.url, record, { n: 3 }, config)
    expect(bytes.toString('hex')).toBe(`00${id.toString(16).padStart(8, '0')}06`)
    const texts = struct('R', { n: STRING })
    await expect(write(registry.url, texts, { n: 'x' }, config)).rejects.toThrow(
      `schema ${id} is incompatible with the given schema`,
    )
    await expect(
      write(registry.url, texts, { n: 'x' }, { ...config, 'id.compatibility.strict': 'false' }),
    ).rejects.toThrow('the Avro type long does not accept string')
  })
})

async function startSecure(host: string, options: ServerOptions = {}): Promise<string> {
  const server = createServer({ cert: pem('server.pem'), key: pem('server.pem'), ...options }, (_request, response) => {
    response.end('["secure"]')
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `https://${host}:${(server.address() as AddressInfo).port}`
}

async function closedPort(): Promise<string> {
  const server = createPortServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}
