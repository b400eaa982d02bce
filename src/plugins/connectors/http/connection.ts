import { readTls, sslFields } from '../../../java-compat/connector-tls.ts'
import { type ConfigProblem, field, type HostAccess, type z } from '../../../sdk/index.ts'
import { type Authorization, basic, clientCredentials, fixed } from './authorization.ts'
import { proxyUrl } from './proxy-url.ts'
import {
  createTransport,
  type Transport,
  type TransportOptions,
  type TransportRequest,
  type TransportResponse,
} from './transport.ts'

/** A configuration key for a URL: `http://…` or `https://…`. */
export function httpUrl(info: field.FieldInfo) {
  return field.text({ ...info, reaches: 'url' }).refine(isHttpUrl, 'expected http://host/path or https://host/path')
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/\s]/.test(text) && URL.canParse(text)
}

const millis = (doc: string, importance: field.Importance = 'LOW') => field.int({ doc, importance, min: 1 })

/** Configuration keys for connection and authentication, shared by all HTTP connectors. */
export const connectionFields = {
  'auth.type': field
    .oneOf(['NONE', 'BASIC', 'BEARER', 'OAUTH2'], {
      doc: 'Authentication of requests: with connection.user and connection.password, with bearer.token, or with a token from oauth2.token.url.',
      importance: 'HIGH',
    })
    .default('NONE'),
  'connection.user': field.text({ doc: 'User name for auth.type=BASIC.' }).optional(),
  'connection.password': field.password({ doc: 'Password for auth.type=BASIC.' }).optional(),
  'bearer.token': field.password({ doc: 'Token for auth.type=BEARER.' }).optional(),
  'oauth2.token.url': httpUrl({ doc: 'Token endpoint for auth.type=OAUTH2 (client credentials grant).' }).optional(),
  'oauth2.client.id': field.text({ doc: 'Client id for auth.type=OAUTH2.' }).optional(),
  'oauth2.client.secret': field.password({ doc: 'Client secret for auth.type=OAUTH2.' }).optional(),
  'oauth2.client.scope': field.text({ doc: 'Scope to request with auth.type=OAUTH2.', importance: 'LOW' }).optional(),
  'oauth2.client.auth.mode': field
    .oneOf(['header', 'url'], {
      doc: 'With auth.type=OAUTH2: whether the client id and secret are sent in a Basic header or in the URL-encoded form.',
      importance: 'LOW',
    })
    .default('header'),
  'oauth2.token.property': field
    .text({ doc: 'Member of the token response that contains the token.', importance: 'LOW' })
    .default('access_token'),
  'http.connect.timeout.ms': millis('Timeout for establishing a connection, in ms.').default(30_000),
  'http.request.timeout.ms': millis('Timeout of a request including the complete response, in ms.').default(30_000),
  'http.proxy.host': field.text({ reaches: 'url', doc: 'Host name of an HTTP proxy. Empty: no proxy.' }).default(''),
  'http.proxy.port': field.int({ doc: 'Port of the proxy.', min: 0, max: 65_535 }).default(0),
  'http.proxy.user': field.text({ doc: 'User name for the proxy.', importance: 'LOW' }).default(''),
  'http.proxy.password': field.password({ doc: 'Password for the proxy.', importance: 'LOW' }).default(''),
  ...sslFields('https.'),
} as const

export type ConnectionSettings = z.infer<z.ZodObject<typeof connectionFields>>

/** Keys that each authentication type requires. */
const NEEDS: Readonly<Record<ConnectionSettings['auth.type'], readonly (keyof ConnectionSettings)[]>> = {
  NONE: [],
  BASIC: ['connection.user', 'connection.password'],
  BEARER: ['bearer.token'],
  OAUTH2: ['oauth2.token.url', 'oauth2.client.id', 'oauth2.client.secret'],
}

/** Problems that involve several keys. */
export function connectionProblems(settings: ConnectionSettings): readonly ConfigProblem[] {
  const type = settings['auth.type']
  const missing = NEEDS[type].filter((key) => settings[key] === undefined || settings[key] === '')
  const problems = missing.map((key) => ({ key, message: `auth.type=${type} requires ${key}` }))
  const { 'http.proxy.host': host, 'http.proxy.port': port } = settings
  if (host === '' || port > 0) return problems
  return [...problems, { key: 'http.proxy.port', message: 'http.proxy.host requires http.proxy.port' }]
}

/** Reports each problem at its key. For `superRefine` of a whole configuration. */
export function addProblems(problems: readonly ConfigProblem[], context: z.core.$RefinementCtx): void {
  for (const { key, message } of problems) field.addProblem(context, key, message)
}

export type Connection = {
  /**
   * Like `Transport.send`, with authentication. Also rejects with a `RetriableError` while no token can be obtained.
   */
  send(call: TransportRequest): Promise<TransportResponse>
  close(): void
}

/**
 * Prepares a connection; the first request opens it. Rejects if certificates cannot be read or the proxy is not
 * allowed.
 */
export async function openConnection(
  settings: ConnectionSettings,
  limits: Pick<TransportOptions, 'responseBytesMax' | 'whenLonger'>,
  { files, network }: HostAccess,
): Promise<Connection> {
  const transport = createTransport({
    ...limits,
    network,
    tls: readTls('https.', settings, files),
    proxyUrl: await proxyUrl(
      {
        host: settings['http.proxy.host'],
        port: settings['http.proxy.port'],
        user: settings['http.proxy.user'],
        password: settings['http.proxy.password'],
      },
      network,
    ),
    connectTimeoutMs: settings['http.connect.timeout.ms'],
    requestTimeoutMs: settings['http.request.timeout.ms'],
  })
  const authorization = authorizationOf(settings, transport)
  const sendAs = (call: TransportRequest, header: string | undefined) =>
    transport.send(header === undefined ? call : { ...call, headers: { ...call.headers, authorization: header } })
  return {
    async send(call) {
      const header = await authorization.header(call.signal)
      const answer = await sendAs(call, header)
      if (answer.status !== 401 || header === undefined || !authorization.invalidate(header)) return answer
      return sendAs(call, await authorization.header(call.signal))
    },
    close: () => transport.close(),
  }
}

function authorizationOf(settings: ConnectionSettings, transport: Transport): Authorization {
  switch (settings['auth.type']) {
    case 'BASIC':
      return fixed(basic(settings['connection.user']!, settings['connection.password']!))
    case 'BEARER':
      return fixed(`Bearer ${settings['bearer.token']}`)
    case 'OAUTH2': {
      const credentials = {
        tokenUrl: settings['oauth2.token.url']!,
        clientId: settings['oauth2.client.id']!,
        clientSecret: settings['oauth2.client.secret']!,
        scope: settings['oauth2.client.scope'],
        mode: settings['oauth2.client.auth.mode'],
        tokenProperty: settings['oauth2.token.property'],
      }
      return clientCredentials(credentials, { transport, nowMs: () => performance.now() })
    }
    case 'NONE':
      return fixed(undefined)
  }
}

/** Returns the problems that `parseHeaders` finds in the value of a key. */
export function headerProblems(key: string, texts: readonly string[]): readonly ConfigProblem[] {
  try {
    parseHeaders(texts)
    return []
  } catch (error) {
    return [{ key, message: `Invalid value for configuration ${key}: ${(error as Error).message}` }]
  }
}

/** Parses headers in the form `Name:value`. Names are converted to lower case. Throws an `Error`. */
export function parseHeaders(texts: readonly string[]): readonly (readonly [name: string, value: string])[] {
  return texts.flatMap((text) => {
    if (text.trim() === '') return []
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*:\s*(.*?)\s*$/.exec(text) ?? []
    // The value may be a secret, so the message contains only the start.
    if (name === undefined || value === undefined) {
      throw new Error(`a header must be NAME:VALUE: '${text.slice(0, 8)}…'`)
    }
    return [[name.toLowerCase(), value] as const]
  })
}
