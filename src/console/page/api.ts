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

/** The value of the `authorization` header. It is kept in memory only, so a reload asks again. */
export const authorization = signal<string | undefined>(undefined)

/** Whether the last response was a 401, so that the page has to ask for credentials. */
export const needsLogIn = signal(false)

export function logIn(user: string, password: string): void {
  const bytes = new TextEncoder().encode(`${user}:${password}`)
  authorization.value = `Basic ${btoa(String.fromCharCode(...bytes))}`
  needsLogIn.value = false
}

export function logInWithToken(token: string): void {
  authorization.value = `Bearer ${token}`
  needsLogIn.value = false
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
  const { value: used } = authorization
  if (used !== undefined) headers['authorization'] = used
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
  // Not if somebody has logged in since the request was sent.
  if (response.status === 401 && used === authorization.value) needsLogIn.value = true
  throw new RequestFailure(response.status, await messageOf(response))
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
