import { createHash, createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { UNRESTRICTED_CLIENT } from '../../../src/broker/client-access.ts'
import { readClientConfig } from '../../../src/broker/kafka/client-config.ts'
import { mskIamTokenProvider } from '../../../src/broker/kafka/msk-iam-token-provider.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const KEY = 'AKIDEXAMPLE'
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const MSK = 'b-1.weir.abc123.c2.kafka.eu-west-1.amazonaws.com:9098'
const NOW_MS = Date.UTC(2026, 10, 28, 12, 30, 15)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS })
  vi.stubEnv('AWS_ACCESS_KEY_ID', KEY)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', SECRET)
  vi.stubEnv('AWS_SESSION_TOKEN', '')
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

/** The signature of a presigned URL by the documentation of AWS Signature Version 4. */
function signatureOf(url: URL, secret: string): string {
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  const encode = (text: string) =>
    encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)
  // The signer adds User-Agent to the signed URL.
  const signed = [...url.searchParams].filter(([name]) => name !== 'X-Amz-Signature' && name !== 'User-Agent')
  const query = signed.map(([name, value]) => `${encode(name)}=${encode(value)}`).toSorted()
  const [, scope = ''] = /^[^/]+\/(.*)$/.exec(url.searchParams.get('X-Amz-Credential')!) ?? []
  const [date = '', region = '', service = ''] = scope.split('/')
  const canonical = ['GET', '/', query.join('&'), `host:${url.host}`, '', 'host', hash('')].join('\n')
  const text = ['AWS4-HMAC-SHA256', url.searchParams.get('X-Amz-Date'), scope, hash(canonical)].join('\n')
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), service), 'aws4_request')
  return hmac(key, text).toString('hex')
}

const urlOf = (token: string) => new URL(Buffer.from(token, 'base64url').toString())

describe('a token for Amazon MSK', () => {
  it('is a request to connect that is signed as AWS documents it', async () => {
    const { value } = await mskIamTokenProvider({}, [MSK], new FakeClock(NOW_MS))()
    expect(value).not.toMatch(/[=+/]/)
    const url = urlOf(value)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      Action: 'kafka-cluster:Connect',
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': `${KEY}/20261128/eu-west-1/kafka-cluster/aws4_request`,
      'X-Amz-Date': '20261128T123015Z',
      'X-Amz-Expires': '900',
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Signature': signatureOf(url, SECRET),
      'User-Agent': expect.stringMatching(/^aws-msk-iam-sasl-signer-js\//),
    })
    expect(url.origin).toBe('https://kafka.eu-west-1.amazonaws.com')
  })

  it('is renewed after 80 % of its 15 minutes', async () => {
    const clock = new FakeClock(NOW_MS)
    const token = mskIamTokenProvider({}, [MSK], clock)
    const first = await token()
    await clock.advance(719_999)
    vi.setSystemTime(clock.nowMs())
    expect(await token()).toEqual(first)
    await clock.advance(1)
    vi.setSystemTime(clock.nowMs())
    expect(urlOf((await token()).value).searchParams.get('X-Amz-Date')).toBe('20261128T124215Z')
  })

  it('is signed with the credentials of a profile', async () => {
    const file = join(temporaryDirectory(), 'credentials')
    writeFileSync(file, `[weir]\naws_access_key_id = OTHER\naws_secret_access_key = other secret\n`)
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', file)
    const { value } = await mskIamTokenProvider({ awsProfileName: 'weir' }, [MSK], new FakeClock(NOW_MS))()
    const url = urlOf(value)
    expect(url.searchParams.get('X-Amz-Credential')).toMatch(/^OTHER\//)
    expect(url.searchParams.get('X-Amz-Signature')).toBe(signatureOf(url, 'other secret'))
  })

  it.each([
    [[MSK], {}, 'eu-west-1'],
    [['boot-x.c1.kafka-serverless.us-east-2.amazonaws.com:9098'], { AWS_REGION: 'eu-west-1' }, 'us-east-2'],
    [['boot.cn.kafka.cn-north-1.amazonaws.com.cn:9098'], {}, 'cn-north-1'],
    [['msk.example:9098'], { AWS_REGION: 'eu-west-3' }, 'eu-west-3'],
    [['msk.example:9098'], { AWS_DEFAULT_REGION: 'eu-west-2' }, 'eu-west-2'],
  ])('with the brokers %j and the environment %j is for the region %s', async (servers, environment, region) => {
    const { value } = await mskIamTokenProvider({}, servers, new FakeClock(NOW_MS), environment)()
    expect(urlOf(value).hostname).toBe(`kafka.${region}.amazonaws.com`)
  })

  it('needs a region, and options that the signer has', () => {
    const clock = new FakeClock()
    expect(() => mskIamTokenProvider({}, ['msk.example:9098'], clock, {})).toThrow(
      /region of AWS is unknown: .*AWS_REGION/,
    )
    expect(() => mskIamTokenProvider({ awsRoleExternalId: 'x' }, [MSK], clock)).toThrow(
      'sasl.jaas.config: awsRoleExternalId is not supported: expected awsProfileName, or awsRoleArn and awsRoleSessionName',
    )
  })

  it.each([
    { 'sasl.mechanism': 'AWS_MSK_IAM', 'sasl.jaas.config': 'software.amazon.msk.auth.iam.IAMLoginModule required;' },
    {
      'sasl.mechanism': 'OAUTHBEARER',
      'sasl.jaas.config': 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;',
      'sasl.login.callback.handler.class': 'software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler',
    },
  ])('is sent by a client with %j', async (keys) => {
    const all = { 'bootstrap.servers': MSK, 'security.protocol': 'SASL_SSL', ...keys }
    const { sasl } = readClientConfig(all).config
    if (sasl?.mechanism !== 'oauthbearer') throw new Error(`${sasl?.mechanism} is not OAUTHBEARER`)
    expect(urlOf((await sasl.oauthBearerProvider()).value).searchParams.get('Action')).toBe('kafka-cluster:Connect')
    const access = {
      ...UNRESTRICTED_CLIENT,
      useMachineIdentity: (used: readonly string[]) => {
        throw new Error(`not with ${used.join()}`)
      },
    }
    expect(() => readClientConfig(all, { access })).toThrow(/^not with sasl\.mechanism,/)
  })
})
