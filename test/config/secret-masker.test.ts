import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SecretMasker } from '../../src/config/secret-masker.ts'
import { SECRET_ENCODINGS } from '../support/secret-encodings.ts'

const AWKWARD = 'pä$s/w"ör\'d+&=?%41\\n!'
const PEM = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n'.repeat(3)}Qz9xLm4TtR2vYb8c\n-----END PRIVATE KEY-----\n`

function known(...values: readonly string[]): SecretMasker {
  const secrets = new SecretMasker()
  secrets.add(values)
  return secrets
}

describe('a secret', () => {
  it.each(Object.keys(SECRET_ENCODINGS))('is masked as %s', (name) => {
    for (const secret of ['hunter22', 'correct horse battery staple', 'C:\\new\\dir', AWKWARD, 'Zm9v+YmFy/8=']) {
      const text = `login with ${SECRET_ENCODINGS[name]!(secret)} failed`
      const masked = known(`${secret}\n`).mask(text)
      expect(known(secret).mask(JSON.stringify({ text }))).toContain('[hidden]')
      expect(masked).toContain('[hidden]')
      expect(known(secret).mask(masked)).toBe(masked)
      expect(masked.startsWith('login with ') && masked.endsWith(' failed')).toBe(true)
    }
  })

  it('is masked whatever it is made of, in any spelling of any spelling', () => {
    const character = fc.constantFrom(...'abcXYZ019 -_.,;:/@?=+%\\\'"&<>!$#äß日')
    const secret = fc.string({ unit: character, minLength: 8, maxLength: 40 }).filter((text) => /[\w]{4}/.test(text))
    // In other case its bytes are others, so that another encoding of it cannot be recognized.
    const outer = ['URL component', 'form', 'JSON', 'JSON in JSON', 'entities of HTML', 'base64 of JSON', 'hexadecimal']
    fc.assert(
      fc.property(
        secret,
        fc.constantFrom(...Object.keys(SECRET_ENCODINGS)),
        fc.constantFrom(...outer),
        (value, one, other) => {
          const inner = SECRET_ENCODINGS[one]!(value)
          const masked = known(value).mask(`failed: ${SECRET_ENCODINGS[other]!(`at ${inner} in`)}`)
          expect(masked).toContain('[hidden]')
          expect(known(value).mask(masked)).toBe(masked)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('leaves the text around it as it is', () => {
    const secrets = known('hunter', 'hunter22', '', 'ok', 'say "hi" now')
    expect(secrets.mask('login hunter22 of hunter failed, ok')).toBe('login [hidden] of [hidden] failed, ok')
    expect(secrets.mask(JSON.stringify({ password: 'say "hi" now' }))).toBe('{"password":"[hidden]"}')
    expect(known('hunter22').mask('http://me:hunter22@h/%20x ü😀')).toBe('http://me:[hidden]@h/%20x ü😀')
  })

  it('is masked by any twelve bytes of it that follow each other', () => {
    const secret = 'Tq7-long-enough-to-be-cut-9X'
    expect(known(secret).mask(`invalid value ${secret.slice(0, 12)}…`)).toBe('invalid value [hidden]…')
    expect(known(secret).mask(`… ${secret.slice(-14)}`)).toBe('… [hidden]')
    expect(known(secret).mask(secret.slice(0, 11))).toBe(secret.slice(0, 11))
  })

  it('is masked in the parts that a list of it is split into, and line by line', () => {
    const secrets = known('alpha1, bravo2;charlie3', PEM)
    expect(secrets.mask('first alpha1 then bravo2 then charlie3')).toBe('first [hidden] then [hidden] then [hidden]')
    for (const line of PEM.split('\n').slice(1, -2)) expect(secrets.mask(`bad line ${line}`)).toBe('bad line [hidden]')
  })

  it('is masked by the credentials inside it', () => {
    const jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="pw-1x";'
    expect(known(jaas).mask('Authentication of u with pw-1x failed')).toBe('Authentication of u with [hidden] failed')
    const url = 'jdbc:postgresql://db.example/orders?user=shop&password=s3cr'
    expect(known(url).mask('FATAL: s3cr is wrong')).toBe('FATAL: [hidden] is wrong')
  })

  it('of less than eight bytes is masked as a word only, of less than four not at all', () => {
    const secrets = known('prod', 'abc', '5432')
    expect(secrets.mask('product prod prod-1 pro abc 54321 :5432/')).toBe(
      'product [hidden] [hidden]-1 pro abc 54321 :[hidden]/',
    )
    expect(secrets.mask('"x\\nprod\\n" %22prod%22')).toBe('"x\\n[hidden]\\n" %22[hidden]%22')
  })

  it('that is the name of a common class masks nothing', () => {
    const text = 'org.apache.kafka.connect.json.JsonConverter failed'
    expect(known('org.apache.kafka.connect.json.JsonConverter').mask(text)).toBe(text)
  })

  it('is masked in data: texts, names and numbers, at any depth', () => {
    const data = { a: [{ hunter22: 'xhunter22' }, 12345678, 7, null, true], b: 'fine' }
    expect(known('hunter22', '12345678').maskData(data)).toEqual({
      a: [{ '[hidden]': 'x[hidden]' }, '[hidden]', 7, null, true],
      b: 'fine',
    })
  })
})

describe('secrets', () => {
  it('are masked while somebody holds them, and an hour longer', () => {
    let nowMs = 0
    const secrets = new SecretMasker(() => nowMs)
    secrets.hold('one', ['first-value'])
    secrets.hold('two', ['first-value'])
    secrets.hold('one', ['second-value'])
    nowMs = 3_600_001
    secrets.hold('three', [])
    expect(secrets.mask('first-value second-value')).toBe('[hidden] [hidden]')
    secrets.hold('two', [])
    nowMs += 3_599_999
    secrets.hold('three', [])
    expect(secrets.mask('first-value')).toBe('[hidden]')
    nowMs += 2
    secrets.hold('three', [])
    expect(secrets.mask('first-value second-value')).toBe('first-value [hidden]')
  })

  it('that nobody holds do not grow without bound, and those that somebody holds are never forgotten', () => {
    const secrets = new SecretMasker(() => 0)
    secrets.hold('task', ['the-one-in-use'])
    for (let n = 0; n < 400; n++) secrets.notice([`${n}-${'x'.repeat(1_000)}`, 'the-same-each-time'])
    expect(secrets.mask('the-one-in-use the-same-each-time 399-xxxxxxxxxxx')).toBe('[hidden] [hidden] [hidden]')
    expect(secrets.mask('17-abc 18-abc')).toBe('17-abc 18-abc')
    expect(secrets.noticed).toBeLessThan(300)
  })

  it('cost a text the same however many they are', () => {
    const line = 'connect ECONNREFUSED 127.0.0.1:5432 at TCPConnectWrap.afterConnect (node:net:1637:16) '.repeat(40)
    const many = known(...Array.from({ length: 10_000 }, (_, n) => `pw-${n * 7_919}-${(n * 104_729).toString(36)}!`))
    const one = known('pw-0-zero!')
    const timeOf = (secrets: SecretMasker) => {
      const startMs = performance.now()
      for (let n = 0; n < 20; n++) secrets.mask(line)
      return performance.now() - startMs
    }
    const fastest = (secrets: SecretMasker) => Math.min(...Array.from({ length: 7 }, () => timeOf(secrets)))
    fastest(one)
    expect(fastest(many)).toBeLessThan(10 * fastest(one))
  })

  it.each(['a', '\\', '%', '%25', '&;', '1,', 'ab ', 'Aa', '"x"'])('cost time linear in a text of %j', (unit) => {
    const text = unit.repeat(524_288 / unit.length)
    const secrets = known('a'.repeat(20_000), 'ab'.repeat(100))
    const before = process.cpuUsage()
    secrets.mask(text)
    // About a second, on a busy machine; squared it would be hours.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(15_000)
  })
})
