import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SecretMasker } from '../../../src/common/secrets/secret-masker.ts'
import { cpuMsOf } from '../../support/cpu-time.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { SECRET_ENCODINGS } from '../../support/secret-encodings.ts'

const AWKWARD = 'pä$s/w"ör\'d+&=?%41\\n!'
const PEM = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n'.repeat(3)}Qz9xLm4TtR2vYb8c\n-----END PRIVATE KEY-----\n`

function known(...values: readonly string[]): SecretMasker {
  const secrets = new SecretMasker()
  secrets.add(values)
  return secrets
}

describe('secret', () => {
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

  it('is masked in any encoding and in any encoding of an encoding', () => {
    const character = fc.constantFrom(...'abcXYZ019 -_.,;:/@?=+%\\\'"&<>!$#äß日')
    const secret = fc.string({ unit: character, minLength: 8, maxLength: 40 }).filter((text) => /[\w]{4}/.test(text))
    // A changed case changes its bytes, so a further encoding of it cannot be recognized.
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
      { numRuns: propertyRuns(100) },
    )
  })

  it('does not change the surrounding text', () => {
    const secrets = known('hunter', 'hunter22', '', 'ok', 'say "hi" now')
    expect(secrets.mask('login hunter22 of hunter failed, ok')).toBe('login [hidden] of [hidden] failed, ok')
    expect(secrets.mask(JSON.stringify({ password: 'say "hi" now' }))).toBe('{"password":"[hidden]"}')
    expect(known('hunter22').mask('http://me:hunter22@h/%20x ü😀')).toBe('http://me:[hidden]@h/%20x ü😀')
  })

  it('is masked in a text whose escapes are escaped very often', () => {
    const text = `${'%3'.repeat(50_000)}%35 hunter22`
    expect(known('hunter22').mask(text)).toBe(text.replace('hunter22', '[hidden]'))
  })

  it('is masked where any twelve consecutive bytes of it appear', () => {
    const secret = 'Tq7-long-enough-to-be-cut-9X'
    expect(known(secret).mask(`invalid value ${secret.slice(0, 12)}…`)).toBe('invalid value [hidden]…')
    expect(known(secret).mask(`… ${secret.slice(-14)}`)).toBe('… [hidden]')
    expect(known(secret).mask(secret.slice(0, 11))).toBe(secret.slice(0, 11))
  })

  it('is masked in the single items of a list and in single lines', () => {
    const secrets = known('alpha1, bravo2;charlie3', PEM)
    expect(secrets.mask('first alpha1 then bravo2 then charlie3')).toBe('first [hidden] then [hidden] then [hidden]')
    for (const line of PEM.split('\n').slice(1, -2)) expect(secrets.mask(`bad line ${line}`)).toBe('bad line [hidden]')
  })

  it('is masked where only the credentials inside it appear', () => {
    const jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="pw-1x";'
    expect(known(jaas).mask('Authentication of u with pw-1x failed')).toBe('Authentication of u with [hidden] failed')
    const url = 'jdbc:postgresql://db.example/orders?user=shop&password=s3cr'
    expect(known(url).mask('FATAL: s3cr is wrong')).toBe('FATAL: [hidden] is wrong')
  })

  it('is masked only as a whole word below eight bytes, and not at all below four', () => {
    const secrets = known('prod', 'abc', '5432')
    expect(secrets.mask('product prod prod-1 pro abc 54321 :5432/')).toBe(
      'product [hidden] [hidden]-1 pro abc 54321 :[hidden]/',
    )
    expect(secrets.mask('"x\\nprod\\n" %22prod%22')).toBe('"x\\n[hidden]\\n" %22[hidden]%22')
  })

  it('is not masked when it is the name of a common class', () => {
    const text = 'org.apache.kafka.connect.json.JsonConverter failed'
    expect(known('org.apache.kafka.connect.json.JsonConverter').mask(text)).toBe(text)
  })

  it('is masked in structured data: strings, member names and numbers, at any depth', () => {
    const data = { a: [{ hunter22: 'xhunter22' }, 12345678, 7, null, true], b: 'fine' }
    expect(known('hunter22', '12345678').maskData(data)).toEqual({
      a: [{ '[hidden]': 'x[hidden]' }, '[hidden]', 7, null, true],
      b: 'fine',
    })
  })
})

describe('secrets', () => {
  it('are masked while they are in use and for one more hour', () => {
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

  it('that are not in use are forgotten when there are too many; those in use never are', { tags: ['slow'] }, () => {
    const secrets = new SecretMasker(() => 0)
    secrets.hold('task', ['the-one-in-use'])
    for (let n = 0; n < 400; n++) secrets.notice([`${n}-${'x'.repeat(1_000)}`, 'the-same-each-time'])
    expect(secrets.mask('the-one-in-use the-same-each-time 399-xxxxxxxxxxx')).toBe('[hidden] [hidden] [hidden]')
    expect(secrets.mask('17-abc 18-abc')).toBe('17-abc 18-abc')
    expect(secrets.noticed).toBeLessThan(300)
  })

  it('are masked in time that is independent of the number of secrets', { tags: ['slow'] }, async () => {
    const line = 'connect ECONNREFUSED 127.0.0.1:5432 at TCPConnectWrap.afterConnect (node:net:1637:16) '.repeat(40)
    const many = known(...Array.from({ length: 10_000 }, (_, n) => `pw-${n * 7_919}-${(n * 104_729).toString(36)}!`))
    const one = known('pw-0-zero!')
    const fastest = async (secrets: SecretMasker) => {
      const maskLines = () => {
        for (let n = 0; n < 20; n++) secrets.mask(line)
      }
      const times: number[] = []
      for (let round = 0; round < 3; round++) times.push(await cpuMsOf(maskLines))
      return Math.min(...times)
    }
    await fastest(one)
    expect(await fastest(many)).toBeLessThan(10 * (await fastest(one)))
  })

  it.each(['a', '\\', '%', '%25', '&;', '1,', 'ab ', 'Aa', '"x"'])(
    'cost time linear in a text of %j',
    { tags: ['slow'] },
    async (unit) => {
      const text = unit.repeat(131_072 / unit.length)
      const secrets = known('a'.repeat(20_000), 'ab'.repeat(100))
      // Takes less than a second; quadratic time would be minutes.
      expect(await cpuMsOf(() => secrets.mask(text))).toBeLessThan(5_000)
    },
  )
})
