import type { S3ClientConfig } from '@aws-sdk/client-s3'

/** Where the credentials of requests come from. */
export type S3Credentials =
  /** Amazon's usual places: environment, profiles, web identity, container, instance. */
  | { readonly from: 'default' }
  | { readonly from: 'keys'; readonly id: string; readonly secret: string }
  | { readonly from: 'nobody' }
  | { readonly from: 'environment' }
  | { readonly from: 'profile' }
  | { readonly from: 'web identity' }
  | { readonly from: 'container' }
  | { readonly from: 'instance' }
  | {
      readonly from: 'role'
      readonly arn: string
      readonly session: string
      readonly externalId: string | undefined
      readonly region: string | undefined
      /** The credentials that assume the role; undefined: those of the default. */
      readonly keys: { readonly id: string; readonly secret: string } | undefined
    }

const DEFAULT: S3Credentials = { from: 'default' }
export const ASSUME_ROLE = 'io.confluent.connect.s3.auth.AwsAssumeRoleCredentialsProvider'

/** Classes of Amazon's libraries for Java, without the package. */
const PROVIDERS: Readonly<Record<string, S3Credentials>> = {
  DefaultCredentialsProvider: DEFAULT,
  DefaultAWSCredentialsProviderChain: DEFAULT,
  EnvironmentVariableCredentialsProvider: { from: 'environment' },
  ProfileCredentialsProvider: { from: 'profile' },
  WebIdentityTokenFileCredentialsProvider: { from: 'web identity' },
  WebIdentityTokenCredentialsProvider: { from: 'web identity' },
  ContainerCredentialsProvider: { from: 'container' },
  EC2ContainerCredentialsProviderWrapper: { from: 'container' },
  InstanceProfileCredentialsProvider: { from: 'instance' },
  AnonymousCredentialsProvider: { from: 'nobody' },
}

/** The credentials that a class of Java provides; undefined if there is no such class here. */
export function providerOfClass(name: string): S3Credentials | undefined {
  const [, simple = ''] =
    /^(?:software\.amazon\.awssdk\.auth\.credentials|com\.amazonaws\.auth(?:\.profile)?)\.(\w+)$/.exec(name) ?? []
  return Object.hasOwn(PROVIDERS, simple) ? PROVIDERS[simple] : undefined
}

/** The part of the client's configuration that provides credentials. */
export async function s3Credentials(
  credentials: S3Credentials,
  region: string,
): Promise<Pick<S3ClientConfig, 'credentials' | 'signer'>> {
  switch (credentials.from) {
    case 'default':
      return {}
    case 'keys':
      return { credentials: { accessKeyId: credentials.id, secretAccessKey: credentials.secret } }
    case 'nobody':
      return { credentials: { accessKeyId: '', secretAccessKey: '' }, signer: { sign: async (request) => request } }
    default:
      return { credentials: await providerOf(credentials, region) }
  }
}

async function providerOf(
  credentials: Exclude<S3Credentials, { readonly from: 'default' | 'keys' | 'nobody' }>,
  region: string,
): Promise<NonNullable<S3ClientConfig['credentials']>> {
  const library = await import('@aws-sdk/credential-providers')
  switch (credentials.from) {
    case 'environment':
      return library.fromEnv()
    case 'profile':
      return library.fromIni()
    case 'web identity':
      return library.fromTokenFile({ clientConfig: { region } })
    case 'container':
      return library.fromContainerMetadata()
    case 'instance':
      return library.fromInstanceMetadata()
    case 'role': {
      const { arn, session, externalId, keys } = credentials
      return library.fromTemporaryCredentials({
        params: { RoleArn: arn, RoleSessionName: session, ...(externalId !== undefined && { ExternalId: externalId }) },
        clientConfig: { region: credentials.region ?? region },
        ...(keys !== undefined && { masterCredentials: { accessKeyId: keys.id, secretAccessKey: keys.secret } }),
      })
    }
  }
}
