import type { Clock } from '../../common/clock.ts'
import { messageOf, UserError } from '../../common/errors.ts'
import { BrokerError } from '../broker-error.ts'
import type { ClientAccess } from '../client-access.ts'
import { type JaasEntry, parseJaasEntry } from './jaas-entry.ts'
import type { SaslOptions } from './kafkajs-login.ts'
import { mskIamTokenProvider } from './msk-iam-token-provider.ts'
import { oauthTokenProvider } from './oauth-token-provider.ts'

type Keys = Readonly<Record<string, string>>

const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER', 'AWS_MSK_IAM'] as const
const HANDLER = 'sasl.login.callback.handler.class'
const RETRIEVER = 'sasl.oauthbearer.jwt.retriever.class'
const KAFKA_PACKAGE = 'org.apache.kafka.common.security.oauthbearer'
const IAM_HANDLER = 'software.amazon.msk.auth.iam.IAMOAuthBearerLoginCallbackHandler'
/** Java's classes whose work Weir does itself. */
const KNOWN_CLASSES: Readonly<Record<typeof HANDLER | typeof RETRIEVER, readonly string[]>> = {
  [HANDLER]: [
    `${KAFKA_PACKAGE}.OAuthBearerLoginCallbackHandler`,
    `${KAFKA_PACKAGE}.secured.OAuthBearerLoginCallbackHandler`,
    IAM_HANDLER,
  ],
  [RETRIEVER]: ['DefaultJwtRetriever', 'ClientCredentialsJwtRetriever', 'FileJwtRetriever'].map(
    (name) => `${KAFKA_PACKAGE}.${name}`,
  ),
}

export type SaslContext = {
  readonly servers: readonly string[]
  readonly access: ClientAccess
  readonly clock: Clock
}

/** Reads the `sasl.*` keys of Java clients. */
export function saslOptions(keys: Keys, { servers, access, clock }: SaslContext): SaslOptions {
  const mechanism = mechanismOf(keys)
  const jaas = parseJaasEntry(keys['sasl.jaas.config'])
  if (mechanism === 'AWS_MSK_IAM' || (mechanism === 'OAUTHBEARER' && keys[HANDLER]?.trim() === IAM_HANDLER)) {
    access.useMachineIdentity(['sasl.mechanism', HANDLER, 'sasl.jaas.config'])
    return { mechanism: 'oauthbearer', oauthBearerProvider: mskIamTokenProvider(jaas.options, servers, clock) }
  }
  if (mechanism === 'OAUTHBEARER') {
    checkClass(keys, HANDLER)
    checkClass(keys, RETRIEVER)
    return { mechanism: 'oauthbearer', oauthBearerProvider: oauthTokenProvider(keys, jaas.options, access, clock) }
  }
  return { mechanism: PASSWORD_MECHANISMS[mechanism], ...credentials(keys, jaas, mechanism, access) }
}

const PASSWORD_MECHANISMS = {
  PLAIN: 'plain',
  'SCRAM-SHA-256': 'scram-sha-256',
  'SCRAM-SHA-512': 'scram-sha-512',
} as const

function mechanismOf(keys: Keys): (typeof MECHANISMS)[number] {
  const written = keys['sasl.mechanism']?.trim() || 'PLAIN'
  const mechanism = MECHANISMS.find((one) => one === written.toUpperCase())
  if (mechanism) return mechanism
  const reason = written.toUpperCase() === 'GSSAPI' ? 'Kerberos is not supported: ' : ''
  throw new UserError(
    'invalid_client_config',
    `sasl.mechanism=${written}: ${reason}expected one of ${MECHANISMS.join(', ')}`,
  )
}

/** What another class does is unknown, and a login without it would fail with a misleading error. */
function checkClass(keys: Keys, key: keyof typeof KNOWN_CLASSES): void {
  const written = keys[key]?.trim()
  if (!written || KNOWN_CLASSES[key].includes(written)) return
  throw new UserError(
    'invalid_client_config',
    `${key}=${written}: Weir cannot load a Java class here: expected one of ${KNOWN_CLASSES[key].join(', ')}`,
  )
}

const PASSWORD_FILE = 'sasl.password.location'

function credentials(keys: Keys, { options }: JaasEntry, mechanism: string, access: ClientAccess) {
  if (options['tokenauth'] === 'true') {
    throw new UserError(
      'invalid_client_config',
      'sasl.jaas.config: tokenauth="true" is not supported: expected the user name and password of a user, not a delegation token',
    )
  }
  const username = keys['sasl.username'] ?? options['username']
  const file = keys[PASSWORD_FILE]?.trim()
  const password = file ? () => readPassword(file, access) : (keys['sasl.password'] ?? options['password'])
  if (!username || password === undefined) {
    throw new UserError(
      'invalid_client_config',
      `sasl.jaas.config: expected a login module with username="…" and password="…" for ${mechanism}`,
    )
  }
  return { username, password }
}

/** Whoever writes the file, such as Kubernetes from a Secret, writes it again when the password changes. */
function readPassword(file: string, access: ClientAccess): string {
  try {
    return access.readFileSync(PASSWORD_FILE, file).toString('utf8')
  } catch (error) {
    throw new BrokerError('not_authenticated', `${PASSWORD_FILE}=${file}: ${messageOf(error)}`, { cause: error })
  }
}
