import type { Clock } from '../../common/clock.ts'
import { messageOf, UserError } from '../../common/errors.ts'
import { BrokerError } from '../broker-error.ts'
import type { OauthToken } from './kafkajs-login.ts'
import { cachedToken } from './token-cache.ts'

type Signer = typeof import('aws-msk-iam-sasl-signer-js')

/** Options of Amazon's `IAMLoginModule` that its signer for JavaScript does not have. */
const UNSUPPORTED = [
  'awsRoleExternalId',
  'awsRoleAccessKeyId',
  'awsRoleSecretAccessKey',
  'awsRoleSessionToken',
  'awsStsRegion',
  'awsShouldUseFips',
  'awsMskRegionProvider',
]
const SESSION_NAME = 'aws-msk-iam-auth'
const BROKER_HOST = /\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?:\d+$/

/**
 * Provides the tokens by which Amazon MSK authenticates an identity of AWS: a request that is signed by Amazon's own library,
 * and sent as an OAUTHBEARER token. The library is loaded when it is used, because it is larger than the rest of the client.
 */
export function mskIamTokenProvider(
  jaas: Readonly<Record<string, string>>,
  servers: readonly string[],
  clock: Clock,
  environment: NodeJS.ProcessEnv = process.env,
): () => Promise<OauthToken> {
  const unsupported = UNSUPPORTED.find((option) => jaas[option] !== undefined)
  if (unsupported !== undefined) {
    throw new UserError(
      'invalid_client_config',
      `sasl.jaas.config: ${unsupported} is not supported: expected awsProfileName, or awsRoleArn and awsRoleSessionName`,
    )
  }
  const region = regionOf(servers) ?? environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION']
  if (!region) {
    throw new UserError(
      'invalid_client_config',
      'the region of AWS is unknown: expected the addresses of Amazon MSK in bootstrap.servers, or AWS_REGION in the environment',
    )
  }
  const token = cachedToken(async () => {
    const signer = await loadSigner()
    const { token: value, expiryTime } = await sign(signer, region, jaas).catch((error: unknown) => {
      throw new BrokerError('unavailable', `no token of AWS: ${messageOf(error)}`, { cause: error })
    })
    return { value, lifetimeMs: expiryTime - clock.nowMs() }
  }, clock)
  return async () => ({ value: await token() })
}

function regionOf(servers: readonly string[]): string | undefined {
  return servers.flatMap((server) => BROKER_HOST.exec(server)?.[1] ?? [])[0]
}

function sign(signer: Signer, region: string, jaas: Readonly<Record<string, string>>) {
  const { awsProfileName, awsRoleArn, awsRoleSessionName = SESSION_NAME } = jaas
  if (awsProfileName) return signer.generateAuthTokenFromProfile({ region, awsProfileName })
  if (awsRoleArn) return signer.generateAuthTokenFromRole({ region, awsRoleArn, awsRoleSessionName })
  return signer.generateAuthToken({ region })
}

async function loadSigner(): Promise<Signer> {
  try {
    return await import('aws-msk-iam-sasl-signer-js')
  } catch (error) {
    throw new UserError(
      'invalid_client_config',
      `sasl.mechanism=AWS_MSK_IAM needs the optional package aws-msk-iam-sasl-signer-js, which cannot be loaded: ${messageOf(error)}`,
    )
  }
}
