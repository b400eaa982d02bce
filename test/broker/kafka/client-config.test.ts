import { describe, expect, it } from 'vitest'
import { parseJaasOptions, readClientConfig } from '../../../src/broker/kafka/client-config.ts'

const SERVERS = { 'bootstrap.servers': 'one:9092' }
const LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required'

describe('settings of the Java client', () => {
  it('have the defaults of the Java client', () => {
    const { config, protocol, ignored } = readClientConfig(SERVERS)
    expect(config).toEqual({
      brokers: ['one:9092'],
      clientId: 'weir',
      ssl: false,
      connectionTimeout: 10_000,
      requestTimeout: 30_000,
      authenticationTimeout: 10_000,
    })
    expect([protocol, ignored]).toEqual(['PLAINTEXT', []])
  })

  it.each([
    ['one:1', ['one:1']],
    [' one:1 , two:2,', ['one:1', 'two:2']],
    ['PLAINTEXT://one:1,SASL_SSL://two:2', ['one:1', 'two:2']],
    ['[::1]:9092', ['[::1]:9092']],
  ])('parses the bootstrap servers %j', (written, brokers) => {
    expect(readClientConfig({ 'bootstrap.servers': written }).config.brokers).toEqual(brokers)
  })

  it.each([undefined, '', ',', 'one', 'one:', 'one:x', ':9092', '::1:9092'])('refuse the servers %j', (written) => {
    const keys = written === undefined ? {} : { 'bootstrap.servers': written }
    expect(() => readClientConfig(keys)).toThrow(
      /^bootstrap\.servers.*expected HOST:PORT, several separated by commas$/,
    )
  })

  it.each([
    [
      { 'security.protocol': 'HTTPS' },
      'security.protocol=HTTPS: expected one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL',
    ],
    [{ 'request.timeout.ms': '5s' }, 'request.timeout.ms=5s: expected milliseconds'],
    [
      { 'security.protocol': 'SASL_PLAINTEXT', 'sasl.mechanism': 'GSSAPI' },
      'sasl.mechanism=GSSAPI: expected one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER',
    ],
    [
      { 'security.protocol': 'SASL_PLAINTEXT', 'sasl.jaas.config': `${LOGIN} username="u";` },
      'sasl.jaas.config: expected a login module with username="…" and password="…" for PLAIN',
    ],
  ])('rejects %j', (keys, message) => {
    expect(() => readClientConfig({ ...SERVERS, ...keys })).toThrow(message)
  })

  it('returns the ignored settings; client.* overrides', () => {
    const keys = { ...SERVERS, 'client.request.timeout.ms': '7', 'request.timeout.ms': '9', 'linger.ms': '5' }
    const { config, ignored } = readClientConfig(keys)
    expect(config.requestTimeout).toBe(7)
    expect(ignored).toEqual(['linger.ms'])
  })

  it('takes user name and password from a JAAS entry', () => {
    const line = `${LOGIN} username="u" password="a\\"b\\\\c;d=e";`
    const keys = { ...SERVERS, 'security.protocol': 'sasl_plaintext', 'sasl.jaas.config': line }
    expect(readClientConfig(keys).config.sasl).toEqual({ mechanism: 'plain', username: 'u', password: 'a"b\\c;d=e' })
  })
})

describe('JAAS entry', () => {
  it.each([
    [undefined, {}],
    [`${LOGIN} username=u password=p;`, { username: 'u', password: 'p' }],
    [`${LOGIN}\n  username = "u"\n  password = "";`, { username: 'u', password: '' }],
  ])('%j has the options %j', (line, options) => {
    expect(parseJaasOptions(line)).toEqual(options)
  })
})
