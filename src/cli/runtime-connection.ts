import { readFileSync } from 'node:fs'
import { type Endpoint, RequestError } from '../clients/http-client.ts'
import { createRegistryClient, type RegistryClient } from '../clients/registry-client.ts'
import { messageOf } from '../common/errors.ts'
import { tlsMaterial } from '../tls/tls-material.ts'
import { type ExitCode, UsageError } from './command.ts'
import { InterruptedError } from './process/stop-signal.ts'
import { printableText } from './terminal/printable-text.ts'

/** Options of the commands that connect to registries or workers: how they log in. */
export const CONNECTION_OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  user: { type: 'string' },
  cacert: { type: 'string' },
  cert: { type: 'string' },
  key: { type: 'string' },
} as const

export const CONNECTION_HELP = `  --user NAME:PASSWORD    BASIC credentials; without :PASSWORD the password is read from WEIR_PASSWORD
  --cacert FILE           trusted certificates (PEM or PKCS#12)
  --cert FILE --key FILE  client certificate and key (PEM)
  --help`

/** Options of the commands that connect to one registry. */
export const REGISTRY_OPTIONS = { ...CONNECTION_OPTIONS, registry: { type: 'string' } } as const

export const REGISTRY_HELP = `  --registry URL          the registry, such as http://127.0.0.1:8081
${CONNECTION_HELP}`

type CertificateValues = { readonly [Name in 'cacert' | 'cert' | 'key']?: string | undefined }
export type ConnectionValues = CertificateValues & { readonly user?: string | undefined }

/** Throws a `UsageError`, or a `UserError` with the code `invalid_tls`. */
export function openRegistryClient(
  values: ConnectionValues & { readonly registry?: string | undefined },
  environment: NodeJS.ProcessEnv = process.env,
): RegistryClient {
  const { registry } = values
  if (registry === undefined)
    throw new UsageError('--registry URL is missing, such as --registry http://127.0.0.1:8081')
  return createRegistryClient(endpointOf('--registry', registry, values, environment))
}

/** The endpoint at a URL that an option names, with the credentials and certificates of the command line. */
export function endpointOf(
  option: string,
  text: string,
  values: ConnectionValues,
  environment: NodeJS.ProcessEnv = process.env,
): Pick<Endpoint, 'url' | 'auth' | 'tls'> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError(`${option} ${text}: expected http://HOST:PORT or https://HOST:PORT`)
  }
  const auth = credentials(values.user ?? userIn(url), environment)
  url.username = ''
  url.password = ''
  return { url: url.href.replace(/\/$/, ''), ...(auth && { auth }), ...tlsOptions(values) }
}

/** Prints why a command did not finish: a failed request or an interrupt. Throws any other error. */
export function reportRequestError(error: unknown, hint = ''): ExitCode {
  if (!(error instanceof RequestError || error instanceof InterruptedError)) throw error
  process.stderr.write(`weir: ${printableText(error.message, '\n')}${hint}\n`)
  return 3
}

function userIn({ username, password }: URL): string | undefined {
  return username === '' ? undefined : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
}

function credentials(user: string | undefined, environment: NodeJS.ProcessEnv) {
  if (user === undefined) return undefined
  const colon = user.indexOf(':')
  const password = colon < 0 ? environment['WEIR_PASSWORD'] : user.slice(colon + 1)
  if (password === undefined) throw new UsageError(`--user ${user}: expected NAME:PASSWORD, or WEIR_PASSWORD to be set`)
  return { username: colon < 0 ? user : user.slice(0, colon), password }
}

/** The trusted certificates and the client certificate of the command line. */
export function tlsOptions({ cacert, cert, key }: CertificateValues): Pick<Endpoint, 'tls'> {
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('--cert and --key must be given together')
  if (cacert === undefined && cert === undefined) return {}
  const identity =
    cert !== undefined && key !== undefined ? { cert: textOf('--cert', cert), key: textOf('--key', key) } : {}
  return { tls: { ...tlsMaterial({ 'ssl.truststore.location': cacert }), ...identity } }
}

function textOf(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${option} ${path}: ${messageOf(error)}`)
  }
}
