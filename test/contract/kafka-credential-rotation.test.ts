import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { type ClientAccess, UNRESTRICTED_CLIENT } from '../../src/broker/client-access.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { issueCertificate } from '../../src/operator/admission/issue-certificate.ts'
import { SHORT_LIVED } from '../env/java.ts'
import { type Kafka, startKafka } from '../env/kafka.ts'
import { describeOn, real } from '../env/real.ts'
import { AUDIENCE, type Issuer, SECRET, startIssuer } from '../support/issuer.ts'
import { brokerTls, saslListener, store } from '../support/kafka-security.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { newTopic, readAll, records, textOf } from './broker-support.ts'

const kafka = await real('kafka')
const MODULE = 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required'
const TOKEN_SECONDS = 3
const TOKEN_URL = 'sasl.oauthbearer.token.endpoint.url'
type Settings = Readonly<Record<string, string>>

describeOn([kafka], 'credentials that are replaced while a client of Kafka is connected', () => {
  let issuer: Issuer
  let server: Kafka

  beforeAll(async () => {
    issuer = await startIssuer([{ id: 'weir', usesBasic: true }], { secondsToLive: TOKEN_SECONDS })
    server = await startKafka({
      listeners: { UNSIGNED: 'SASL_PLAINTEXT', SIGNED: 'SASL_PLAINTEXT', MUTUAL: 'SSL' },
      properties: {
        ...brokerTls(),
        'listener.name.mutual.ssl.client.auth': 'required',
        ...saslListener('unsigned', 'OAUTHBEARER'),
        ...saslListener('signed', 'OAUTHBEARER'),
        'listener.name.signed.oauthbearer.sasl.server.callback.handler.class':
          'org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler',
        'sasl.oauthbearer.jwks.endpoint.url': `${issuer.url}/jwks`,
        'sasl.oauthbearer.expected.audience': AUDIENCE,
        'sasl.oauthbearer.expected.issuer': issuer.url,
        // A session lasts as long as its token.
        'listener.name.unsigned.oauthbearer.connections.max.reauth.ms': '60000',
        'listener.name.signed.oauthbearer.connections.max.reauth.ms': '60000',
      },
      jvm: [...SHORT_LIVED, `-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${issuer.url}/jwks`],
    })
  })
  afterAll(async () => {
    await server?.stop()
    await issuer?.stop()
  })

  async function open(listener: string, settings: Settings, access: ClientAccess = UNRESTRICTED_CLIENT) {
    const config = { 'bootstrap.servers': server.listeners[listener] ?? '', ...settings }
    const broker = await openBroker({ kind: 'kafka', config }, { logger: silentLogger(), access })
    onTestFinished(() => broker.close())
    return broker
  }

  /** Writes records one after the other until `isDone`, and expects that none failed or is missing. */
  async function writeUntil(broker: Broker, isDone: () => boolean): Promise<void> {
    const topic = await newTopic(broker)
    const producer = await broker.producer()
    const values: string[] = []
    while (!isDone()) {
      values.push(String(values.length))
      await producer.send(records(topic, [values.at(-1)!]))
    }
    expect((await readAll(broker, topic)).map(textOf)).toEqual(values)
  }

  it('logs in again with a new token of an OpenID Connect provider before the previous one expires', async () => {
    const broker = await open('SIGNED', {
      'security.protocol': 'SASL_PLAINTEXT',
      'sasl.mechanism': 'OAUTHBEARER',
      [TOKEN_URL]: `${issuer.url}/token`,
      'sasl.jaas.config': `${MODULE} clientId="weir" clientSecret="${SECRET}";`,
    })
    const tokens = () => issuer.asked.filter((path) => path === '/token').length
    const first = tokens()
    await writeUntil(broker, () => tokens() > first + 1)
  })

  it('is rejected with a token that the provider did not sign', async () => {
    const endpoint = createHttpServer((_, response) =>
      response.end(JSON.stringify({ access_token: unsignedToken(), expires_in: TOKEN_SECONDS })),
    )
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void endpoint.close())
    const opening = open('SIGNED', {
      'security.protocol': 'SASL_PLAINTEXT',
      'sasl.mechanism': 'OAUTHBEARER',
      [TOKEN_URL]: `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/token`,
      'sasl.jaas.config': `${MODULE} clientId="weir" clientSecret="x";`,
    })
    await expect(opening).rejects.toMatchObject({
      code: 'not_authenticated',
      message: expect.stringContaining('the server rejected the token: {"status":"invalid_token"}'),
    })
  })

  it('logs in again with the token that is in its file by then', async () => {
    const file = join(temporaryDirectory(), 'token')
    const write = () => {
      writeFileSync(`${file}.new`, unsignedToken())
      renameSync(`${file}.new`, file)
    }
    const read = new Set<string>()
    const access: ClientAccess = {
      ...UNRESTRICTED_CLIENT,
      readFileSync: (_, path) => {
        const content = readFileSync(path)
        read.add(content.toString())
        return content
      },
    }
    write()
    const settings = { 'sasl.mechanism': 'OAUTHBEARER', [TOKEN_URL]: `file://${file}` }
    const broker = await open('UNSIGNED', { 'security.protocol': 'SASL_PLAINTEXT', ...settings }, access)
    await writeUntil(broker, () => {
      write()
      return read.size > 2
    })
  })

  it.each(['ssl.keystore.location', 'ssl.truststore.location'])(
    'connects with the current content of %s',
    async (key) => {
      const directory = temporaryDirectory()
      const files = { 'ssl.keystore.location': 'client.pem', 'ssl.truststore.location': 'ca.pem' }
      const paths = Object.entries(files).map(([one, name]) => [one, join(directory, name)] as const)
      for (const [, path] of paths) copyFileSync(store(path.slice(directory.length + 1)), path)
      const settings = Object.fromEntries(paths)
      // Each call has a connection of its own.
      const idle = { 'connections.max.idle.ms': '1' }
      const broker = await open('MUTUAL', { 'security.protocol': 'SSL', ...idle, ...settings })
      const result = () =>
        broker.topics.list().then(
          () => 'connected',
          ({ code }: { readonly code: string }) => code,
        )
      const path = settings[key]!
      const before = readFileSync(path)
      const other = await issueCertificate(['localhost'], Date.now())
      expect(await result()).toBe('connected')
      writeFileSync(path, key.startsWith('ssl.keystore') ? `${other.key}${other.cert}` : other.ca)
      await expect.poll(result).toBe('not_authenticated')
      writeFileSync(path, before)
      await expect.poll(result).toBe('connected')
    },
  )
})

/** A token that Kafka's login module for development accepts. */
function unsignedToken(): string {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url')
  const nowSeconds = Date.now() / 1_000
  return `${part({ alg: 'none' })}.${part({ sub: 'alice', iat: nowSeconds, exp: nowSeconds + TOKEN_SECONDS })}.`
}
