import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readClientConfig } from '../../../src/broker/kafka/client-config.ts'
import { parseJaasEntry } from '../../../src/broker/kafka/jaas-entry.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const SERVERS = { 'bootstrap.servers': 'one:9092' }
const LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required'

describe('settings of the Java client', () => {
  it('have the defaults of the Java client', () => {
    const { config, protocol, ignored } = readClientConfig(SERVERS)
    expect(config).toEqual({
      brokers: ['one:9092'],
      clientId: 'weir',
      dnsLookup: 'use_all_dns_ips',
      requestTimeoutMs: 30_000,
      apiTimeoutMs: 60_000,
      retryBackoff: { firstMs: 100, maxMs: 1_000 },
      connectionSetup: { firstMs: 10_000, maxMs: 30_000 },
      reconnectBackoff: { firstMs: 50, maxMs: 1_000 },
      connectionIdleMs: 540_000,
      recovery: { rebootstraps: true, triggerMs: 300_000 },
      metadataMaxAgeMs: undefined,
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
    [{ 'request.timeout.ms': '5s' }, 'request.timeout.ms=5s: expected a whole number from 1 to 9007199254740991'],
    [
      { 'security.protocol': 'SASL_PLAINTEXT', 'sasl.mechanism': 'GSSAPI' },
      'sasl.mechanism=GSSAPI: Kerberos is not supported: expected one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, AWS_MSK_IAM',
    ],
    [
      { 'security.protocol': 'SASL_PLAINTEXT', 'sasl.jaas.config': `${LOGIN} username="u";` },
      'sasl.jaas.config: expected a login module with username="…" and password="…" for PLAIN',
    ],
    [
      { 'security.protocol': 'SASL_SSL', 'sasl.mechanism': 'DIGEST-MD5' },
      'sasl.mechanism=DIGEST-MD5: expected one of PLAIN,',
    ],
    [
      {
        'security.protocol': 'SASL_SSL',
        'sasl.mechanism': 'OAUTHBEARER',
        'sasl.login.callback.handler.class': 'com.example.Handler',
      },
      'sasl.login.callback.handler.class=com.example.Handler: Weir cannot load a Java class here: expected one of',
    ],
    [
      {
        'security.protocol': 'SASL_SSL',
        'sasl.mechanism': 'OAUTHBEARER',
        'sasl.oauthbearer.jwt.retriever.class': 'org.apache.kafka.common.security.oauthbearer.JwtBearerJwtRetriever',
      },
      'JwtBearerJwtRetriever: Weir cannot load a Java class here: expected one of',
    ],
    [
      {
        'security.protocol': 'SASL_SSL',
        'sasl.mechanism': 'SCRAM-SHA-256',
        'sasl.jaas.config': `${LOGIN} username="u" password="p" tokenauth="true";`,
      },
      'sasl.jaas.config: tokenauth="true" is not supported',
    ],
  ])('rejects %j', (keys, message) => {
    expect(() => readClientConfig({ ...SERVERS, ...keys })).toThrow(message)
  })

  it('returns the ignored settings; client.* overrides', () => {
    const keys = { ...SERVERS, 'client.request.timeout.ms': '7', 'request.timeout.ms': '9', 'linger.ms': '5' }
    const { config, ignored } = readClientConfig(keys)
    expect(config.requestTimeoutMs).toBe(7)
    expect(ignored).toEqual(['linger.ms'])
  })

  it('takes user name and password from a JAAS entry', () => {
    const line = `${LOGIN} username="u" password="a\\"b\\\\c;d=e";`
    const keys = { ...SERVERS, 'security.protocol': 'sasl_plaintext', 'sasl.jaas.config': line }
    expect(readClientConfig(keys).config.sasl).toEqual({ mechanism: 'plain', username: 'u', password: 'a"b\\c;d=e' })
  })

  it('takes the password from a file, of which each login reads what it has then', () => {
    const file = join(temporaryDirectory(), 'password')
    writeFileSync(file, 'first ')
    const login = { 'sasl.mechanism': 'SCRAM-SHA-512', 'sasl.username': 'u', 'sasl.password.location': file }
    const { sasl } = readClientConfig({ ...SERVERS, 'security.protocol': 'SASL_PLAINTEXT', ...login }).config
    const { password } = sasl as { readonly password: () => string }
    expect(password()).toBe('first ')
    writeFileSync(file, 'second')
    expect(password()).toBe('second')
    rmSync(file)
    expect(password).toThrow(`sasl.password.location=${file}: ENOENT`)
  })
})

describe('JAAS entry', () => {
  const MODULE = LOGIN.split(' ')[0]
  it.each([
    [undefined, '', {}],
    [`${LOGIN} username=u password=p;`, MODULE, { username: 'u', password: 'p' }],
    [`${LOGIN}\n  username = "u"\n  password = "";`, MODULE, { username: 'u', password: '' }],
    // As Confluent Cloud shows it.
    [`${LOGIN} username='u' password='a"b\\'c';`, MODULE, { username: 'u', password: `a"b'c` }],
  ])('%j has the module %j and the options %j', (line, module, options) => {
    expect(parseJaasEntry(line)).toEqual({ module, options })
  })
})
