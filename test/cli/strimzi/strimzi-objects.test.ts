import { describe, expect, it } from 'vitest'
import {
  chooseListener,
  clientFiles,
  parseKafka,
  parseUser,
  settingsOf,
} from '../../../src/cli/strimzi/strimzi-objects.ts'

const LISTENERS = [
  { name: 'plain', port: 9092, type: 'internal', tls: false },
  { name: 'tls', port: 9093, type: 'internal', tls: true, authentication: { type: 'tls' } },
  { name: 'scram', port: 9094, type: 'internal', tls: true, authentication: { type: 'scram-sha-512' } },
  { name: 'external', port: 9095, type: 'loadbalancer', tls: true, authentication: { type: 'scram-sha-512' } },
]
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nown\n-----END CERTIFICATE-----'

function kafkaWith(listeners: readonly object[] = LISTENERS, ready = LISTENERS) {
  const status = ready.map(({ name, port }) => ({
    name,
    bootstrapServers: `estate-${name}:${port}`,
    certificates: [CERTIFICATE],
  }))
  return parseKafka({ spec: { kafka: { listeners } }, status: { listeners: status } }, 'estate')
}
const userWith = (type: string) => parseUser({ spec: { authentication: { type } } }, 'weir')

describe('the listener', () => {
  it.each([
    ['tls', 'tls', 'estate-tls:9093'],
    ['scram-sha-512', 'scram', 'estate-scram:9094'],
    [undefined, 'plain', 'estate-plain:9092'],
  ])('of a user with the authentication %s is the internal one with it', (type, listener, bootstrap) => {
    const user = type === undefined ? undefined : userWith(type)
    expect(chooseListener(kafkaWith(), user)).toMatchObject({ listener, bootstrap })
  })

  it('may be named', () => {
    const chosen = chooseListener(kafkaWith(), userWith('scram-sha-512'), 'external')
    expect(chosen).toEqual({
      listener: 'external',
      bootstrap: 'estate-external:9095',
      hasTls: true,
      login: 'scram-sha-512',
    })
  })

  const two = [
    ...LISTENERS,
    { name: 'second', port: 9096, type: 'internal', tls: true, authentication: { type: 'tls' } },
  ]
  it.each([
    [
      'has another name',
      kafkaWith(),
      'tls',
      'public',
      'no listener of this name, but plain (no authentication), tls (tls)',
    ],
    [
      'has another authentication',
      kafkaWith(),
      'tls',
      'scram',
      'requires the authentication scram-sha-512, and the KafkaUser has tls',
    ],
    ['needs a user', kafkaWith(), undefined, 'tls', 'add --kafka-user-ref'],
    [
      'does not exist for the user',
      kafkaWith(LISTENERS.slice(0, 1)),
      'tls',
      undefined,
      'no listener with the authentication tls, but plain',
    ],
    ['is one of several', kafkaWith(two, two), 'tls', undefined, 'give --kafka-listener with one of tls, second'],
    ['has no address yet', kafkaWith(LISTENERS, []), 'tls', undefined, 'Strimzi has not created it yet'],
  ])('is rejected if it %s', (_, kafka, type, named, reason) => {
    const user = type === undefined ? undefined : userWith(type)
    expect(() => chooseListener(kafka, user, named)).toThrow(reason)
  })
})

describe('the files of a client', () => {
  const kafka = kafkaWith()
  const ca = {
    'ca.crt': CERTIFICATE,
    'ca-2026-01-01T00-00-00Z.crt': 'previous',
    'ca.p12': 'binary',
    'ca.password': 'x',
  }
  const user = { 'user.crt': 'certificate\n', 'user.key': 'key\n', password: ' spaces ' }

  it('trust the current and the previous certificates of the cluster, each once', () => {
    const files = clientFiles(chooseListener(kafka, undefined, 'plain'), { kafka, ca, user })
    expect(files.size).toBe(0)
    const trusted = clientFiles(chooseListener(kafka, userWith('tls')), { kafka, ca, user }).get('ca.crt')
    expect(trusted).toBe(`${CERTIFICATE}\nprevious\n`)
  })

  it('have the credentials that the listener needs, and the settings name them', () => {
    const mutual = chooseListener(kafka, userWith('tls'))
    const scram = chooseListener(kafka, userWith('scram-sha-512'))
    expect(clientFiles(mutual, { kafka, ca, user }).get('user.pem')).toBe('key\ncertificate\n')
    expect(clientFiles(scram, { kafka, ca, user }).get('password')).toBe(' spaces ')
    const pathOf = (file: string) => `/d/${file}`
    const tls = { 'ssl.truststore.location': '/d/ca.crt', 'ssl.truststore.type': 'PEM' }
    expect(settingsOf(mutual, 'CN=weir', pathOf)).toEqual({
      ...{ ...tls, 'security.protocol': 'SSL' },
      'ssl.keystore.location': '/d/user.pem',
      'ssl.keystore.type': 'PEM',
    })
    expect(settingsOf(scram, 'weir', pathOf)).toEqual({
      ...{ ...tls, 'security.protocol': 'SASL_SSL', 'sasl.mechanism': 'SCRAM-SHA-512' },
      'sasl.username': 'weir',
      'sasl.password.location': '/d/password',
    })
    expect(settingsOf(chooseListener(kafka, undefined), '', pathOf)).toEqual({ 'security.protocol': 'PLAINTEXT' })
  })

  it('are not written without the keys of the user', () => {
    const lacking = () => clientFiles(chooseListener(kafka, userWith('tls')), { kafka, ca, user: { password: 'p' } })
    expect(lacking).toThrow('the Secret of the KafkaUser has no key user.key')
  })
})

it('a resource with other fields than those of Strimzi is rejected with the field', () => {
  expect(() => parseKafka({ spec: { kafka: { listeners: { plain: {} } } } }, 'old')).toThrow(
    'Kafka old: spec.kafka.listeners: Invalid input: expected array',
  )
})
