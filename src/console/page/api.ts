import { signal } from '@preact/signals'
import { isResolvedByBrowsers } from './path-segment.ts'

/** A response that is not successful, or none (`status` 0). `message` is the reason that the program gave. */
export class RequestFailure extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Who asks for credentials: the program that serves the page, which is Kubernetes for an operator, or the runtimes to which
 * an operator passes requests on. Each gets its own credentials only.
 */
export type Realm = 'program' | 'kubernetes' | 'runtimes'

/** Values of `authorization` headers. They are kept in memory only, so a reload asks again. */
export const authorization = signal<string | undefined>(undefined)
const runtimesAuthorization = signal<string | undefined>(undefined)

/** Set while a response was a 401, so that the page has to ask for credentials; `reason` is that of the program. */
export const needsLogIn = signal<{ readonly realm: Realm; readonly reason: string } | undefined>(undefined)

const credentialsOf = (realm: Realm) => (realm === 'runtimes' ? runtimesAuthorization : authorization)

export function logIn(realm: Realm, user: string, password: string): void {
  const bytes = new TextEncoder().encode(`${user}:${password}`)
  useCredentials(realm, `Basic ${btoa(String.fromCharCode(...bytes))}`)
}

export function logInWithToken(realm: Realm, token: string): void {
  useCredentials(realm, `Bearer ${token.trim()}`)
}

function useCredentials(realm: Realm, value: string): void {
  credentialsOf(realm).value = value
  needsLogIn.value = undefined
}

/** Forgets the credentials with everything that was read or written with them. */
export function logOut(): void {
  location.reload()
}

/** The directory of the page: the root of the REST API, also behind a proxy that adds a path. */
const ROOT = new URL('.', document.baseURI)

/**
 * Sends a request to the program that serves the page. `path` begins with a slash. Credentials are only those of the
 * log-in form: the browser adds none, so that pages of other sites cannot use them.
 */
export async function send(
  method: Method,
  path: string,
  { body, signal }: { readonly body?: unknown; readonly signal?: AbortSignal } = {},
): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json, */*;q=0.5' }
  const used: UsedCredentials = { own: authorization.value, runtimes: runtimesAuthorization.value }
  addCredentials(headers, path, used)
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (isResolvedByBrowsers(path))
    throw new RequestFailure(0, "a browser cannot request an object with the name '.' or '..': use the REST API")
  let response: Response
  try {
    response = await fetch(new URL(path.slice(1), ROOT), {
      method,
      headers,
      credentials: 'omit',
      cache: 'no-store',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new RequestFailure(0, 'the program does not respond: it has stopped, or the network is interrupted')
  }
  if (response.ok) return response
  const reason = await messageOf(response)
  if (response.status === 401) askForCredentials(response, { path, used, reason })
  throw new RequestFailure(response.status, reason)
}

type UsedCredentials = { readonly own: string | undefined; readonly runtimes: string | undefined }

function isProxied(path: string): boolean {
  return path.startsWith('/ui/runtimes/')
}

function addCredentials(headers: Record<string, string>, path: string, { own, runtimes }: UsedCredentials): void {
  const receivers = isProxied(path) ? runtimes : own
  if (receivers !== undefined) headers['authorization'] = receivers
  // The operator does not pass this header on to runtimes.
  if (isProxied(path) && own !== undefined) headers['kubernetes-authorization'] = own
}

/** Shows the log-in form, unless the user has logged in since the request was sent. */
function askForCredentials(
  { headers }: Response,
  { path, used, reason }: { readonly path: string; readonly used: UsedCredentials; readonly reason: string },
): void {
  // The response of a runtime is passed back without this header.
  const isKubernetes = headers.get('www-authenticate')?.includes('realm="kubernetes"') === true
  const realm = isKubernetes ? 'kubernetes' : isProxied(path) ? 'runtimes' : 'program'
  const before = realm === 'runtimes' ? used.runtimes : used.own
  if (before === credentialsOf(realm).value) needsLogIn.value ??= { realm, reason }
}

/** Sends a request and parses its response; undefined if it has no body. */
export async function request<Body>(method: Method, path: string, body?: unknown): Promise<Body> {
  const text = await (await send(method, path, { body })).text()
  return (text === '' ? undefined : JSON.parse(text)) as Body
}

async function messageOf(response: Response): Promise<string> {
  const text = await response.text().catch(() => '')
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown }
    if (typeof message === 'string') return message
  } catch {
    // Not JSON: a proxy answered.
  }
  return text.slice(0, 500) || `HTTP ${response.status}`
}
