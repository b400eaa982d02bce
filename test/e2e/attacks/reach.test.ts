import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { hashPassword } from '../../../src/http/password-hash.ts'
import { ProcessPluginHost } from '../../../src/worker/isolation/plugins/process-plugin-host.ts'
import { freePort } from '../../env/ports.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'
import { startTestWorker } from '../../support/worker.ts'

const STRINGS = { 'key.converter': 'StringConverter', 'value.converter': 'StringConverter' }
const DEV = `Basic ${Buffer.from('dev:a word').toString('base64')}`
let developer: string

beforeAll(async () => {
  developer = `dev: ${await hashPassword('a word')}, developer\n`
})

type Config = Readonly<Record<string, string>>

/** A worker with a login, asked by a developer. */
async function scene(settings: Config = {}) {
  const directory = temporaryDirectory()
  const users = join(directory, 'users')
  writeFileSync(users, developer)
  const login = { 'authentication.method': 'BASIC', 'weir.authentication.users.file': users }
  const written = { ...login, 'offset.flush.interval.ms': '200', ...settings }
  const { url } = await startTestWorker(written, { openPlugins: ProcessPluginHost.open })
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: DEV, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, text }
  }
  const create = (config: Config, name = 'attack') =>
    call('POST', '/connectors', { name, config: { ...STRINGS, ...config } })
  /** What becomes of its task when a configuration is let pass. */
  const failure = async (config: Config) => {
    const { status, text } = await create(config)
    expect({ status, text }).toMatchObject({ status: 201 })
    let told = ''
    await until('the connector to fail', { everyMs: 50, timeoutMs: 120_000 }, async () => {
      told = (await call('GET', '/connectors/attack/status')).text
      return told.includes('"FAILED"')
    })
    return told
  }
  return { directory, users, url, call, create, failure }
}

/** A server of this machine, and what it was asked for. */
async function loopbackServer(answer: { readonly status?: number; readonly headers?: Config } = {}) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(answer.status ?? 200, answer.headers).end('[{"secret": 1}]')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, asked }
}

const SOURCE = { 'connector.class': 'HttpSource', topic: 'taken', 'poll.interval.ms': '50' }

describe('a user with the role developer', () => {
  it('cannot become an admin by writing the users file, even if all paths are allowed', async () => {
    const { users, create, call } = await scene({ 'connector.paths.allowed': '/' })
    const line = JSON.stringify({ type: 'record', name: 'U', fields: [{ name: 'line', type: 'string' }] })
    await create({ 'connector.class': 'Datagen', 'kafka.topic': 'users', 'schema.string': line }, 'made')
    const link = join(temporaryDirectory(), 'innocent')
    symlinkSync(users, link)
    for (const file of [users, link, `/proc/self/root${users}`]) {
      const refused = await create({ 'connector.class': 'FileStreamSink', topics: 'users', file })
      expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('belongs to the worker itself') })
    }
    expect(readFileSync(users, 'utf8')).toBe(developer)
    expect(await call('GET', '/connectors/attack')).toMatchObject({ status: 404 })
  })

  it('cannot read files of the machine through connectors', async () => {
    const { directory, create } = await scene()
    const secret = join(directory, 'secret')
    writeFileSync(secret, 'secret')
    const configs = ['/etc/shadow', secret, '/proc/self/environ', '../../etc/passwd'].flatMap((path): Config[] => [
      { 'connector.class': 'FileStreamSource', topic: 'taken', file: path },
      { 'connector.class': 'DirectorySource', topic: 'taken', 'input.path': path },
      { 'connector.class': 'Datagen', 'kafka.topic': 'taken', 'schema.filename': path },
      { ...SOURCE, url: 'https://example.com', 'https.ssl.truststore.location': path },
      { 'connector.class': 'WebhookSource', topic: 'taken', 'https.ssl.keystore.location': path },
      {
        'connector.class': 'FileStreamSource',
        topic: 'taken',
        file: path,
        'producer.override.ssl.truststore.location': path,
      },
    ])
    for (const config of configs) {
      const refused = await create(config)
      expect([config, refused]).toMatchObject([config, { status: 400, text: expect.stringContaining('may not use') }])
    }
  })

  it('reads and writes only files in connector.paths.allowed, and cannot leave it through links', async () => {
    const allowed = temporaryDirectory()
    const { directory, create, call, failure } = await scene({ 'connector.paths.allowed': allowed })
    const secret = join(directory, 'secret')
    writeFileSync(secret, 'secret\n')
    symlinkSync(secret, join(allowed, 'link'))
    symlinkSync(directory, join(allowed, 'folder'))
    for (const file of [secret, join(allowed, 'link'), join(allowed, 'folder', 'secret'), `${allowed}/../x`]) {
      for (const plugin of ['FileStreamSource', 'FileStreamSink']) {
        const refused = await create({ 'connector.class': plugin, topic: 't', topics: 't', file })
        expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('connector.paths.allowed') })
      }
    }
    // A link that comes after the configuration was judged.
    const late = join(allowed, 'late')
    const waiting = { 'connector.class': 'FileStreamSource', topic: 'taken', file: late }
    expect(await create(waiting, 'late')).toMatchObject({ status: 201 })
    symlinkSync(secret, late)
    await until('the task to fail', { everyMs: 50, timeoutMs: 120_000 }, async () =>
      (await call('GET', '/connectors/late/status')).text.includes('connector.paths.allowed'),
    )
    const url = `postgresql://192.0.2.1/x?sslmode=verify-ca&sslrootcert=${secret}`
    const postgres = { 'connector.class': 'PostgresSource', 'connection.url': url, mode: 'bulk', 'topic.prefix': 'x' }
    expect(await failure({ ...postgres, 'connection.attempts': '1' })).toContain('connector.paths.allowed')
  })

  it('cannot connect to a server of this machine, in any spelling of its address', async () => {
    const { port, asked } = await loopbackServer()
    const { create } = await scene()
    const hosts = ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '0177.0.0.1', '127.1', '0', '[::1]', '[::]']
    const spelled = [...hosts, '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', 'LOCALHOST.', '127.0.0.1.', 'a.localhost']
    for (const host of spelled) {
      const refused = await create({ ...SOURCE, url: `http://${host}:${port}/` })
      expect([host, refused]).toMatchObject([host, { status: 400, text: expect.stringContaining('may not connect') }])
    }
    const here = `http://127.0.0.1:${port}`
    const configs: Config[] = [
      { ...SOURCE, url: 'http://169.254.169.254/latest/meta-data/' },
      { ...SOURCE, url: 'http://metadata.google.internal/' },
      { ...SOURCE, url: 'https://example.com', 'http.proxy.host': '127.0.0.1', 'http.proxy.port': String(port) },
      { ...SOURCE, url: 'https://example.com', 'auth.type': 'OAUTH2', 'oauth2.token.url': here },
      { 'connector.class': 'HttpSink', topics: 't', 'http.api.url': here },
      { 'connector.class': 'AivenHttpSink', topics: 't', 'http.url': here, 'http.authorization.type': 'none' },
      {
        'connector.class': 'Datagen',
        'kafka.topic': 't',
        'value.converter': 'AvroConverter',
        'value.converter.schema.registry.url': `https://example.com,${here}`,
      },
      { 'connector.class': 'Datagen', 'kafka.topic': 't', 'producer.override.bootstrap.servers': `127.0.0.1:${port}` },
      {
        'connector.class': 'PostgresSource',
        'connection.url': `jdbc:postgresql://example.com,127.0.0.1:${port}/x`,
        mode: 'bulk',
        'topic.prefix': 'x',
      },
    ]
    for (const config of configs) {
      const refused = await create(config)
      expect([config, refused]).toMatchObject([
        config,
        { status: 400, text: expect.stringContaining('may not connect') },
      ])
    }
    expect(asked).toEqual([])
  })

  it('is restricted by the address of a host name at the time of the connection', async () => {
    const { port, asked } = await loopbackServer()
    const { failure } = await scene()
    // A name to us, an address to the system's resolver.
    const url = `jdbc:postgresql://2130706433:${port}/x`
    const postgres = { 'connector.class': 'PostgresSource', 'connection.url': url, mode: 'bulk', 'topic.prefix': 'x' }
    expect(await failure({ ...postgres, 'connection.attempts': '1' })).toContain('(127.0.0.1)')
    expect(asked).toEqual([])
  })

  it('cannot reach another address through a redirect', async () => {
    const target = await loopbackServer()
    const location = `http://127.0.0.1:${target.port}/latest/meta-data`
    const first = await loopbackServer({ status: 302, headers: { location } })
    const { failure } = await scene({
      'connector.urls.denied': `!127.0.0.1:${first.port},loopback,link-local,metadata`,
    })
    const told = await failure({ ...SOURCE, url: `http://127.0.0.1:${first.port}/` })
    expect(told).toContain('302')
    expect([first.asked.length > 0, target.asked]).toEqual([true, []])
  })

  it('cannot use a port of the worker for a webhook source', async () => {
    const { url, create } = await scene({ listeners: `http://127.0.0.1:${await freePort()}` })
    for (const host of ['0.0.0.0', '127.0.0.1', '[::]']) {
      const listener = `http://${host}:${new URL(url).port}`
      const refused = await create({ 'connector.class': 'WebhookSource', topic: 't', listener })
      expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('port of the worker itself') })
    }
  })

  it('cannot use a denied connector under any of its names', async () => {
    const { create, call } = await scene({ 'connector.classes.denied': 'FileStream*', 'connector.paths.allowed': '/' })
    const names = ['FileStreamSink', 'FileStreamSinkConnector', 'org.apache.kafka.connect.file.FileStreamSinkConnector']
    for (const name of names) {
      const refused = await create({ 'connector.class': name, topics: 't', file: '/tmp/x' })
      expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('connector.classes.denied') })
    }
    expect((await call('GET', '/connector-plugins')).text).not.toContain('FileStream')
  })

  it('cannot read files or variables of the worker through placeholders', async () => {
    process.env['CONNECT_SASL_PASSWORD'] = 'secret of the worker'
    onTestFinished(() => {
      delete process.env['CONNECT_SASL_PASSWORD']
    })
    const { users, create, call } = await scene({
      'config.providers': 'file,dir,env',
      'config.providers.file.class': 'FileConfigProvider',
      'config.providers.dir.class': 'DirectoryConfigProvider',
      'config.providers.env.class': 'EnvVarConfigProvider',
    })
    const datagen = { 'connector.class': 'Datagen', 'kafka.topic': 't', 'max.interval': '60000' }
    for (const placeholder of [
      `\${file:${users}:dev}`,
      '${file:/proc/self/environ:PATH}',
      `\${dir:/proc/self:environ}`,
    ]) {
      const refused = await create({ ...datagen, quickstart: placeholder })
      expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('belongs to the worker itself') })
    }
    const { text } = await call('PUT', '/connector-plugins/Datagen/config/validate', {
      ...datagen,
      name: 'x',
      quickstart: '${env:CONNECT_SASL_PASSWORD}',
    })
    expect(text).not.toContain('secret of the worker')
    expect(text).toContain('${env:CONNECT_SASL_PASSWORD}')
  })
})

describe('without a login', () => {
  it('connectors may use everything that the worker may use, as in Kafka Connect', async () => {
    const { url } = await startTestWorker()
    const { port, asked } = await loopbackServer()
    const file = join(temporaryDirectory(), 'lines')
    writeFileSync(file, 'a line\n')
    const put = (name: string, config: Config) =>
      fetch(`${url}/connectors/${name}/config`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...STRINGS, ...config }),
      })
    expect((await put('http', { ...SOURCE, url: `http://127.0.0.1:${port}/` })).status).toBe(201)
    expect((await put('file', { 'connector.class': 'FileStreamSource', topic: 't', file })).status).toBe(201)
    await until('the server to be asked', { everyMs: 50, timeoutMs: 120_000 }, () => asked.length > 0)
  })
})
