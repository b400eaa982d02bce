import { describe, expect, it } from 'vitest'
import { isMaskedValue, isSecretKey, maskConfig, secretValuesIn } from '../../../src/common/secrets/secret-keys.ts'
import { cpuMsOf } from '../../support/cpu-time.ts'

describe('key', () => {
  it.each([
    'password',
    'db.password',
    'dbPassword',
    'DB_PASSWD',
    'ssl.keystore.password',
    'userpass',
    'pass-phrase',
    'my.pwd',
    'connection.password.value',
    'api-key',
    'apiKey',
    'aws.secret.access.key',
    'account_key',
    'sasl.jaas.config',
    'value.converter.schema.registry.basic.auth.user.info',
    'bearer.token',
    'http.headers.Authorization',
    'ssl.keystore.key',
    'azure.connection.string',
    'Set-Cookie',
  ])('named %s holds a secret', (key) => expect(isSecretKey(key)).toBe(true))

  it.each([
    'topics',
    'key.converter',
    'tasks.max',
    'bypass.filter',
    'sasl.oauthbearer.token.endpoint.url',
    'basic.auth.credentials.source',
    'secret.name',
    'password.file',
    'oauth.token.provider.class',
    'aws.access.key.id',
    'compass.direction',
  ])('named %s holds no secret', (key) => expect(isSecretKey(key)).toBe(false))
})

describe('masked configuration', () => {
  it('hides the values of secret keys and credentials inside other values, but not placeholders', () => {
    const config = {
      'db.password': 'x',
      'sasl.jaas.config': 'y',
      token: '${env:T}',
      'empty.password': '',
      topic: 't',
      url: 'http://me:p@ss@host/?a=b&api_key=k1&c=d',
      placed: 'jdbc:x://h/db?user=u&password=${env:P}',
      headers: 'Authorization: Bearer abc.def, X: y',
      json: '{"user":"u","password":"p","token": \'t\'}',
      basic: 'Basic dXNlcjpwYXNz',
      text: 'basic authentication is needed',
    }
    expect(maskConfig(config)).toEqual({
      ...config,
      'db.password': '[hidden]',
      'sasl.jaas.config': '[hidden]',
      url: 'http://me:[hidden]@host/?a=b&api_key=[hidden]&c=d',
      headers: 'Authorization: Bearer [hidden], X: y',
      json: '{"user":"u","password":"[hidden]","token": \'[hidden]\'}',
      basic: 'Basic [hidden]',
    })
  })

  it('hides the values of keys that a plugin defines as passwords', () => {
    expect(maskConfig({ hint: 'h', topic: 't' }, (key) => key === 'hint')).toEqual({ hint: '[hidden]', topic: 't' })
  })

  it('is recognized when a client sends it back', () => {
    expect(isMaskedValue('db.password', '[hidden]')).toBe(true)
    expect(isMaskedValue('url', 'http://me:[hidden]@host/?api_key=[hidden]')).toBe(true)
    expect(isMaskedValue('transforms.mask.replacement', '[hidden]')).toBe(false)
    expect(isMaskedValue('db.password', 'new')).toBe(false)
  })

  it.each(['a', 'a:', 'a=', 'a="', 'x://', 'x://a:', 'basic ', 'password=', '"', "authorization: 'basic "])(
    'takes time linear in a value of %j',
    { tags: ['slow'] },
    async (unit) => {
      const value = unit.repeat(250_000 / unit.length)
      expect(await cpuMsOf(() => maskConfig({ value }))).toBeLessThan(5_000)
    },
  )
})

describe('secrets of a configuration', () => {
  it('are values of secret keys, the text around placeholders, and credentials inside other values', () => {
    const config = {
      password: 'literal',
      token: '${env:T}',
      'sasl.jaas.config': 'prefix-${env:P}-suffix',
      url: 'postgres://me:pw1@h/',
      'credentials.enabled': 'true',
      'secret.flag': 'true',
      topic: 'orders',
    }
    expect(secretValuesIn(config)).toEqual(['literal', 'prefix-', '-suffix', 'pw1'])
  })
})
