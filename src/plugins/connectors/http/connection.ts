import { isIPv6 } from 'node:net'
import { readTls, sslFields } from '../../../java-compat/ssl-fields.ts'
import { type ConfigProblem, field, type HostAccess, type NetworkAccess, type z } from '../../../sdk/index.ts'
import { type Authorization, basic, clientCredentials, fixed } from './authorization.ts'
import {
  createTransport,
  type Transport,
  type TransportOptions,
  type TransportRequest,
  type TransportResponse,
} from './transport.ts'

/** An address that can be asked: `http://…` or `https://…`. */
export function httpUrl(info: field.FieldInfo) {
  return field.text({ ...info, reaches: 'url' }).refine(isHttpUrl, 'expected http://host/path or https://host/path')
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/\s]/.test(text) && URL.canParse(text)
}

const millis = (doc: string, importance: field.Importance = 'LOW') => field.int({ doc, importance, min: 1 })

/** The keys by which the HTTP connectors reach their servers, and say who they are. */
export const connectionFields = {
  'auth.type': field
    .oneOf(['NONE', 'BASIC', 'BEARER', 'OAUTH2'], {
      doc: 'How to say who we are: connection.user and connection.password, bearer.token, or a token by oauth2.*.',
      importance: 'HIGH',
    })
    .default('NONE'),
  'connection.user': field.text({ doc: 'With BASIC: the user.' }).optional(),
  'connection.password': field.password({ doc: 'With BASIC: the password.' }).optional(),
  'bearer.token': field.password({ doc: 'With BEARER: the token.' }).optional(),
  'oauth2.token.url': httpUrl({ doc: 'With OAUTH2: where tokens are given for client credentials.' }).optional(),
  'oauth2.client.id': field.text({ doc: 'With OAUTH2: the id of this client.' }).optional(),
  'oauth2.client.secret': field.password({ doc: 'With OAUTH2: the secret of this client.' }).optional(),
  'oauth2.client.scope': field.text({ doc: 'With OAUTH2: what the token is to allow.', importance: 'LOW' }).optional(),
  'oauth2.client.auth.mode': field
    .oneOf(['header', 'url'], {
      doc: 'With OAUTH2: whether id and secret go in a BASIC header or in the form.',
      importance: 'LOW',
    })
    .default('header'),
  'oauth2.token.property': field
    .text({ doc: 'With OAUTH2: the member of the answer that is the token.', importance: 'LOW' })
    .default('access_token'),
  'http.connect.timeout.ms': millis('How long a connection may take, in ms.').default(30_000),
  'http.request.timeout.ms': millis('How long a request may take until its whole answer is there, in ms.').default(
    30_000,
  ),
  'http.proxy.host': field
    .text({ reaches: 'url', doc: 'Host of the proxy to go through. None: no proxy.' })
    .default(''),
  'http.proxy.port': field.int({ doc: 'Port of the proxy.', min: 0, max: 65_535 }).default(0),
  'http.proxy.user': field.text({ doc: 'User for the proxy.', importance: 'LOW' }).default(''),
  'http.proxy.password': field.password({ doc: 'Password for the proxy.', importance: 'LOW' }).default(''),
  ...sslFields('https.'),
} as const

export type ConnectionSettings = z.infer<z.ZodObject<typeof connectionFields>>

/** What a kind of authorization can't do without. */
const NEEDS: Readonly<Record<ConnectionSettings['auth.type'], readonly (keyof ConnectionSettings)[]>> = {
  NONE: [],
  BASIC: ['connection.user', 'connection.password'],
  BEARER: ['bearer.token'],
  OAUTH2: ['oauth2.token.url', 'oauth2.client.id', 'oauth2.client.secret'],
}

/** What can't be said of one key alone. */
export function connectionProblems(settings: ConnectionSettings): readonly ConfigProblem[] {
  const type = settings['auth.type']
  const missing = NEEDS[type].filter((key) => settings[key] === undefined || settings[key] === '')
  const problems = missing.map((key) => ({ key, message: `auth.type=${type} needs ${key}` }))
  const { 'http.proxy.host': host, 'http.proxy.port': port } = settings
  if (host === '' || port > 0) return problems
  return [...problems, { key: 'http.proxy.port', message: 'http.proxy.host needs http.proxy.port' }]
}

/** Tells each problem at its key: for `superRefine` of a whole configuration. */
export function addProblems(problems: readonly ConfigProblem[], context: z.core.$RefinementCtx): void {
  for (const { key, message } of problems) field.addProblem(context, key, message)
}

export type Connection = {
  /** As `Transport.send`, and says who we are. Rejects with a `RetriableError`, too, when no token is to be had now. */
  send(call: TransportRequest): Promise<TransportResponse>
  close(): void
}

/** Connects to nothing yet: the first call does. Rejects when certificates can't be read or a proxy may not be used. */
export async function openConnection(
  settings: ConnectionSettings,
  limits: Pick<TransportOptions, 'responseBytesMax' | 'whenLonger'>,
  { files, network }: HostAccess,
): Promise<Connection> {
  const transport = createTransport({
    ...limits,
    network,
    tls: readTls('https.', settings, files),
    proxyUrl: await proxyUrl(settings, network),
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
      if (answer.status !== 401 || header === undefined || !authorization.refused(header)) return answer
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

/** The proxy is named by its address: its connections are made where no name is judged any more. */
async function proxyUrl(settings: ConnectionSettings, network: NetworkAccess): Promise<string | undefined> {
  const { 'http.proxy.host': host, 'http.proxy.port': port, 'http.proxy.user': user } = settings
  if (host === '') return undefined
  const who = user === '' ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(settings['http.proxy.password'])}@`
  const address = await network.resolve(host, port)
  return `http://${who}${isIPv6(address) ? `[${address}]` : address}:${port}`
}

/** What is wrong with the texts of `parseHeaders` that stand at a key. */
export function headerProblems(key: string, texts: readonly string[]): readonly ConfigProblem[] {
  try {
    parseHeaders(texts)
    return []
  } catch (error) {
    return [{ key, message: `Invalid value for configuration ${key}: ${(error as Error).message}` }]
  }
}

/** The headers of every request: `Name:value` texts. Names in lower case. */
export function parseHeaders(texts: readonly string[]): readonly (readonly [name: string, value: string])[] {
  return texts.flatMap((text) => {
    if (text.trim() === '') return []
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*:\s*(.*?)\s*$/.exec(text) ?? []
    // Not the whole of it: a value is often a secret.
    if (name === undefined || value === undefined) {
      throw new Error(`a header is no NAME:VALUE: '${text.slice(0, 8)}…'`)
    }
    return [[name.toLowerCase(), value] as const]
  })
}
