import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createNetServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { type Kafka, startKafka } from '../env/kafka.ts'
import { describeOn, real } from '../env/real.ts'
import { brokerTls, pem, saslListener, scramUser, store } from '../support/kafka-security.ts'
import { newTopic, readAll, records, textOf, uniqueName } from './broker-support.ts'

const kafka = await real('kafka')
const logger = silentLogger()
/** A client logs in again after 85 % of the session: here every 1.7 s. */
const SESSION_MS = 2_000

type Settings = Readonly<Record<string, string>>
const trust: Settings = { 'ssl.truststore.location': store('ca.pem'), 'ssl.truststore.type': 'PEM' }
const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="alice\'s"'
const oauth = 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required'
const plain = (password: string) =>
  `org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="${password}";`

describeOn([kafka], 'Kafka with TLS and SASL', () => {
  let server: Kafka

  beforeAll(async () => {
    server = await startKafka({
      listeners: {
        TLS: 'SSL',
        MUTUAL: 'SSL',
        SASL: 'SASL_PLAINTEXT',
        BOTH: 'SASL_SSL',
        MUTE: 'SASL_PLAINTEXT',
        SHORT: 'SASL_PLAINTEXT',
      },
      properties: {
        ...brokerTls(),
        'listener.name.mutual.ssl.client.auth': 'required',
        ...saslListener('sasl'),
        ...saslListener('both'),
        ...saslListener('short'),
        'listener.name.short.plain.connections.max.reauth.ms': String(SESSION_MS),
        ...saslListener('mute', 'SCRAM-SHA-256'),
      },
      format: scramUser('alice', "alice's"),
    })
  })
  afterAll(() => server?.stop())

  /** Opens a broker with the address of the listener and settings as in the properties file of a Java client. */
  async function open(listener: string, settings: Settings): Promise<Broker> {
    const address = server.listeners[listener] ?? ''
    const broker = await openBroker(
      { kind: 'kafka', config: { 'bootstrap.servers': address, ...settings } },
      { logger },
    )
    onTestFinished(() => broker.close())
    return broker
  }

  async function writeAndRead(broker: Broker): Promise<void> {
    const topic = await newTopic(broker)
    const producer = await broker.producer()
    await producer.send(records(topic, ['kept']))
    expect((await readAll(broker, topic)).map(textOf)).toEqual(['kept'])
  }

  it.each<[string, string, Settings]>([
    ['TLS and a PEM truststore', 'TLS', trust],
    ['TLS and a truststore in the settings', 'TLS', { 'ssl.truststore.certificates': pem('ca.pem') }],
    [
      'TLS and a truststore made by keytool',
      'TLS',
      { 'ssl.truststore.location': store('trust.p12'), 'ssl.truststore.password': 'changeit' },
    ],
    ['mutual TLS with a PEM keystore', 'MUTUAL', { ...trust, 'ssl.keystore.location': store('client.pem') }],
    [
      'mutual TLS with a PKCS#12 keystore',
      'MUTUAL',
      { ...trust, 'ssl.keystore.location': store('client.p12'), 'ssl.keystore.password': 'changeit' },
    ],
  ])('accepts connections with %s', async (_, listener, settings) => {
    await writeAndRead(await open(listener, { 'security.protocol': 'SSL', ...settings }))
  })

  it.each<[string, Settings]>([
    ['PLAIN', { 'sasl.jaas.config': plain('alice-secret') }],
    ['SCRAM-SHA-256', { 'sasl.jaas.config': `${scram};` }],
    ['SCRAM-SHA-512', { 'sasl.jaas.config': `${scram};` }],
    ['OAUTHBEARER', { 'sasl.jaas.config': `${oauth} unsecuredLoginStringClaim_sub="alice";` }],
  ])('authenticates with %s, with and without TLS', async (mechanism, settings) => {
    const login = { ...settings, 'sasl.mechanism': mechanism }
    await writeAndRead(await open('SASL', { ...login, 'security.protocol': 'SASL_PLAINTEXT' }))
    await writeAndRead(await open('BOTH', { ...login, ...trust, 'security.protocol': 'SASL_SSL' }))
  })

  it('authenticates with a token from an endpoint and requests it once', async () => {
    const tokenRequests: string[] = []
    const endpoint = await tokenEndpoint((authorization, form) => tokenRequests.push(`${authorization} ${form}`))
    const broker = await open('SASL', {
      'security.protocol': 'SASL_PLAINTEXT',
      'sasl.mechanism': 'OAUTHBEARER',
      'sasl.oauthbearer.token.endpoint.url': endpoint,
      'sasl.oauthbearer.header.urlencode': 'true',
      'sasl.jaas.config': `${oauth} clientId="weir" clientSecret="s:1" scope="kafka";`,
    })
    await writeAndRead(broker)
    expect(tokenRequests).toEqual([
      `Basic ${Buffer.from('weir:s%3A1').toString('base64')} grant_type=client_credentials&scope=kafka`,
    ])
  })

  it('reauthenticates when its session expires', async () => {
    const broker = await open('SHORT', {
      'security.protocol': 'SASL_PLAINTEXT',
      'sasl.mechanism': 'PLAIN',
      'sasl.jaas.config': plain('alice-secret'),
    })
    const topic = await newTopic(broker)
    const producer = await broker.producer()
    const values: string[] = []
    for (const endMs = performance.now() + 4_000; performance.now() < endMs; ) {
      const sent = Array.from({ length: 5 }, (_, at) => `${values.length + at}`)
      values.push(...sent)
      await Promise.all(sent.map((value) => producer.send(records(topic, [value]))))
    }
    expect((await readAll(broker, topic)).map(textOf)).toEqual(values)
  })

  it('treats an interrupted authentication as a transient error', async () => {
    const [host = '', port = ''] = (server.listeners['SASL'] ?? '').split(':')
    // Forwards the first two responses: ApiVersions and SaslHandshake.
    const proxy = createNetServer((client) => {
      const upstream = connect(Number(port), host)
      let responses = 0
      upstream.on('data', (bytes) => {
        responses += 1
        if (responses > 2) client.destroy()
        else client.write(bytes)
      })
      client.on('error', () => undefined).on('close', () => upstream.destroy())
      client.pipe(upstream)
    })
    await expect(
      open('SASL', {
        'bootstrap.servers': await addressOf(proxy),
        'security.protocol': 'SASL_PLAINTEXT',
        'sasl.jaas.config': plain('alice-secret'),
      }),
    ).rejects.toMatchObject({ code: 'unavailable', retriable: true })
  })

  it('receives the client id; client.* overrides', async () => {
    const broker = await open('TLS', {
      'client.id': 'weir-test',
      'security.protocol': 'PLAINTEXT',
      'client.security.protocol': 'SSL',
      'client.ssl.truststore.location': store('ca.pem'),
    })
    const groupId = uniqueName('group')
    const topic = await newTopic(broker)
    await broker.consumer({ groupId, topics: [topic] })
    expect((await broker.groups.describe(groupId)).members.map(({ clientId }) => clientId)).toEqual(['weir-test'])
  })

  it.each<[string, string, Settings, string, RegExp]>([
    [
      'a wrong password',
      'SASL',
      { 'security.protocol': 'SASL_PLAINTEXT', 'sasl.mechanism': 'PLAIN', 'sasl.jaas.config': plain('wrong') },
      'not_authenticated',
      /Invalid username or password/,
    ],
    [
      'a SASL mechanism that the listener does not support',
      'MUTE',
      { 'security.protocol': 'SASL_PLAINTEXT', 'sasl.jaas.config': plain('alice-secret') },
      'not_authenticated',
      /UNSUPPORTED_SASL_MECHANISM/,
    ],
    [
      'a server certificate of an unknown CA',
      'TLS',
      { 'security.protocol': 'SSL' },
      'not_authenticated',
      /not trusted \(unable to verify the first certificate\): expected its CA in ssl\.truststore\.location/,
    ],
    [
      'a missing client certificate',
      'MUTUAL',
      { 'security.protocol': 'SSL', ...trust },
      'not_authenticated',
      /this client's certificate \(alert bad certificate\): expected .* ssl\.keystore\.location/,
    ],
    ['plaintext on a TLS port', 'TLS', {}, 'unavailable', /is security\.protocol=PLAINTEXT what/],
    [
      'TLS on a plaintext port',
      'PLAINTEXT',
      { 'security.protocol': 'SSL' },
      'unavailable',
      /is security\.protocol=SSL what/,
    ],
    ['a connection without SASL to a SASL port', 'SASL', {}, 'unavailable', /is security\.protocol=PLAINTEXT what/],
    [
      'a SASL connection to a port without SASL',
      'PLAINTEXT',
      { 'security.protocol': 'SASL_PLAINTEXT', 'sasl.jaas.config': plain('alice-secret') },
      'not_authenticated',
      /is security\.protocol=SASL_PLAINTEXT what/,
    ],
  ])('reports %s, with its remedy', async (_, listener, settings, code, message) => {
    const error: unknown = await open(listener, settings).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
    expect(error).toMatchObject({ message: expect.stringContaining(server.listeners[listener] ?? '') })
  })
})

/** Starts a token endpoint that issues unsigned tokens, which Kafka's login module for development accepts. */
async function tokenEndpoint(tokenRequests: (authorization: string, form: string) => void): Promise<string> {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url')
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const token = `${part({ alg: 'none' })}.${part({ sub: 'alice', iat: nowSeconds, exp: nowSeconds + 600 })}.`
  const endpoint = createServer((request, response) => {
    let form = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      form += text
    })
    request.on('end', () => {
      tokenRequests(request.headers.authorization ?? '', form)
      response.end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 600 }))
    })
  })
  return `http://${await addressOf(endpoint)}/token`
}

async function addressOf(own: Server): Promise<string> {
  own.listen(0, '127.0.0.1')
  onTestFinished(() => void own.close())
  await once(own, 'listening')
  return `127.0.0.1:${(own.address() as AddressInfo).port}`
}
