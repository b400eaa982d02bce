import type { IncomingHttpHeaders } from 'node:http'
import { RegistryError } from './failure.ts'
import type { Operation } from './operation.ts'

/** Headers that the leader needs to answer as if it had been asked itself. */
const PASSED = ['content-type', 'accept', 'confluent-accept-unknown-properties', 'authorization', 'x-request-id']

export type ForwardOptions = {
  /** More headers to pass on, in lower case. */
  readonly headers: readonly string[]
  readonly timeoutMs: number
}

/** A request as it came in; its body is parsed. */
export type ForwardedRequest = {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  readonly ip: string
}

export type LeaderAnswer = { readonly status: number; readonly type: string | null; readonly text: string }

/**
 * Asks the leader what was asked here. A request that was passed on once already is not passed on again: two instances
 * that take each other for the leader would bounce it for ever. Throws `leader_unknown` or `forward_failed`.
 */
export async function askLeader(
  leaderUrl: string | undefined,
  request: ForwardedRequest,
  operation: Operation,
  { headers, timeoutMs }: ForwardOptions,
): Promise<LeaderAnswer> {
  if (leaderUrl === undefined || request.headers['x-forward'] !== undefined) {
    throw new RegistryError('leader_unknown', operation.leaderless)
  }
  try {
    const response = await fetch(`${leaderUrl}${request.url}`, {
      method: request.method,
      headers: { ...passedOn(request, headers), 'x-forward': 'true', 'x-forwarded-for': request.ip },
      signal: AbortSignal.timeout(timeoutMs),
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  } catch (error) {
    throw new RegistryError('forward_failed', operation.notForwarded, { cause: error })
  }
}

function passedOn(request: ForwardedRequest, more: readonly string[]): Record<string, string> {
  const passed = [...PASSED, ...more].flatMap((name) => {
    const value = request.headers[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return Object.fromEntries(passed)
}
