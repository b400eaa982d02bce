// @ts-expect-error: kafkajs has types of what its package exports only.
import KafkajsAuthenticator from 'kafkajs/src/broker/saslAuthenticator/index.js'
import { messageOf } from '../../common/errors.ts'
import { BrokerError } from '../broker-error.ts'

/*
 * The only file that knows kafkajs. Weir uses its login: the SASL handshake and the mechanisms PLAIN, SCRAM and OAUTHBEARER.
 * Its public clients log in on connections of their own, which can send neither requests in newer versions nor record batches
 * that are already encoded, and its package does not export the class below. So this imports the file of that class, whose
 * constructor, `authenticate` and `sessionLifetime` kafkajs uses itself; nothing of it is replaced.
 * `kafkajs-login.test.ts` fails when a version changes them.
 */

export type SaslOptions =
  | {
      readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
      readonly username: string
      /** A function is called for each login: the password may have been changed. */
      readonly password: string | (() => string)
    }
  | { readonly mechanism: 'oauthbearer'; readonly oauthBearerProvider: () => Promise<OauthToken> }

/** `extensions` are sent with the token (KIP-342). */
export type OauthToken = { readonly value: string; readonly extensions?: Readonly<Record<string, string>> }

/** Sends a request with this body and resolves with the body of the response. */
export type SendRequest = (api: { key: number; version: number; name: string }, body: Buffer) => Promise<Buffer>

type Exchange = {
  readonly request: {
    readonly apiKey: number
    readonly apiVersion: number
    readonly apiName: string
    encode(): Promise<{ readonly buffer: Buffer }>
  }
  readonly response: { decode(bytes: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<unknown> }
}
type Authenticator = { authenticate(): Promise<void>; readonly sessionLifetime: string }
type AuthenticatorClass = new (
  connection: object,
  logger: object,
  versions: object,
  hasSaslAuthenticate: boolean,
) => Authenticator

/** SaslHandshake and SaslAuthenticate in the versions of kafkajs, which every supported broker has. */
const VERSIONS = { 17: { minVersion: 0, maxVersion: 1 }, 36: { minVersion: 0, maxVersion: 1 } }

/** kafkajs returns the bytes of a response with their length. */
const LENGTH_BYTES = 4

/** Every error is also thrown. */
const LOGGER = { namespace: () => LOGGER, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/**
 * Logs in on a connection. Resolves with the lifetime of the session in milliseconds; 0: unlimited. Rejects with
 * `not_authenticated`, or with the error of the server or of `send`.
 */
export async function login(
  { host, port, send }: { readonly host: string; readonly port: number; readonly send: SendRequest },
  sasl: SaslOptions,
): Promise<number> {
  // kafkajs reports every failed login as an authentication error, also if the connection broke.
  let sendError: unknown
  const connection = {
    host,
    port,
    // A copy, because kafkajs stores the mechanism in it.
    sasl:
      'password' in sasl && typeof sasl.password === 'function' ? { ...sasl, password: sasl.password() } : { ...sasl },
    send: async ({ request, response }: Exchange) => {
      const { apiKey: key, apiVersion: version, apiName: name } = request
      const { buffer } = await request.encode()
      const bytes = await send({ key, version, name }, buffer).catch((error: unknown) => {
        sendError = error
        throw error
      })
      const parsed = await response.parse(await response.decode(bytes))
      // With this mechanism, a server sends a challenge only to reject the token (RFC 7628), which kafkajs does not read.
      const { authBytes } = parsed as { readonly authBytes?: Buffer }
      const challenge = authBytes?.subarray(LENGTH_BYTES).toString()
      if (sasl.mechanism === 'oauthbearer' && challenge) throw new Error(`the server rejected the token: ${challenge}`)
      return parsed
    },
  }
  const authenticator = new (KafkajsAuthenticator as AuthenticatorClass)(connection, LOGGER, VERSIONS, true)
  try {
    await authenticator.authenticate()
    return Number(authenticator.sessionLifetime)
  } catch (error) {
    if (sendError !== undefined) throw sendError
    // An error of the token endpoint, or one with a code of the protocol, which says more.
    if (error instanceof BrokerError || typeof (error as { code?: unknown }).code === 'number') throw error
    throw new BrokerError('not_authenticated', `logging in to ${host}:${port}: ${messageOf(error)}`, { cause: error })
  }
}
