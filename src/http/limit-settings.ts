import { integerSetting } from '../config/settings.ts'

/** Limits of a server that protect clients from each other. */
export type HttpLimits = {
  readonly connectionsMax: number
  /** 0: no limit per address. */
  readonly connectionsPerAddressMax: number
  /** Timeout of the request headers. */
  readonly headerTimeoutMs: number
  /** Timeout of a complete request. */
  readonly requestTimeoutMs: number
  /** Timeout of idle keep-alive connections. */
  readonly keepAliveTimeoutMs: number
  /** How long a client may read nothing of a response. */
  readonly responseStallTimeoutMs: number
  /** Maximum size of a request body in bytes. */
  readonly bodyBytesMax: number
  /** Maximum total size of large request bodies that are read or processed. */
  readonly bodiesBytesMax: number
  /** How long a large body waits for the budget. */
  readonly bodiesWaitTimeoutMs: number
  /** Maximum total size of large responses that clients have not read yet. */
  readonly responsesBytesMax: number
}

const MEBIBYTE = 1024 * 1024

export const DEFAULT_LIMITS: HttpLimits = {
  connectionsMax: 2_000,
  connectionsPerAddressMax: 0,
  headerTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 5_000,
  responseStallTimeoutMs: 30_000,
  bodyBytesMax: 10 * MEBIBYTE,
  bodiesBytesMax: 32 * MEBIBYTE,
  bodiesWaitTimeoutMs: 10_000,
  responsesBytesMax: 64 * MEBIBYTE,
}

const count = (fallback: number, min = 1) => integerSetting({ min }).default(fallback)
const milliseconds = (fallback: number) => integerSetting({ min: 1, max: 2 ** 31 - 1 }).default(fallback)

/** Settings of every program that serves HTTP. */
export const httpLimitShape = {
  'http.connections.max': count(DEFAULT_LIMITS.connectionsMax).describe(
    'Maximum number of connections. A further one replaces the connection that has been idle for the longest.',
  ),
  'http.connections.max.per.address': count(DEFAULT_LIMITS.connectionsPerAddressMax, 0).describe(
    'Maximum number of connections from one address. 0: no limit, as is necessary behind a proxy.',
  ),
  'http.header.timeout.ms': milliseconds(DEFAULT_LIMITS.headerTimeoutMs).describe(
    'Time limit for the headers of a request. A body has the same limit and 1 s more for each 128 KiB received.',
  ),
  'http.request.timeout.ms': milliseconds(DEFAULT_LIMITS.requestTimeoutMs).describe(
    'Time limit for receiving a complete request.',
  ),
  'http.keep.alive.timeout.ms': milliseconds(DEFAULT_LIMITS.keepAliveTimeoutMs).describe(
    'Time for which an idle connection is kept open for the next request.',
  ),
  'http.response.stall.timeout.ms': milliseconds(DEFAULT_LIMITS.responseStallTimeoutMs).describe(
    'Time after which a connection is closed if the client reads nothing of a response.',
  ),
  'http.bodies.bytes.max': count(DEFAULT_LIMITS.bodiesBytesMax).describe(
    'Maximum total bytes of request bodies over 64 KiB that are received or processed at the same time. Others wait.',
  ),
  'http.bodies.wait.timeout.ms': milliseconds(DEFAULT_LIMITS.bodiesWaitTimeoutMs).describe(
    'Time limit for that wait. After it, the request is rejected with 503 and `Retry-After`.',
  ),
  'http.responses.bytes.max': count(DEFAULT_LIMITS.responsesBytesMax).describe(
    'Maximum total bytes of responses over 64 KiB that clients have not read yet. Further requests are rejected with 503 and `Retry-After`.',
  ),
}

type HttpLimitValues = Readonly<Record<keyof typeof httpLimitShape, number>>

export function toHttpLimits(values: HttpLimitValues, bodyBytesMax: number): HttpLimits {
  return {
    connectionsMax: values['http.connections.max'],
    connectionsPerAddressMax: values['http.connections.max.per.address'],
    headerTimeoutMs: values['http.header.timeout.ms'],
    requestTimeoutMs: values['http.request.timeout.ms'],
    keepAliveTimeoutMs: values['http.keep.alive.timeout.ms'],
    responseStallTimeoutMs: values['http.response.stall.timeout.ms'],
    bodyBytesMax,
    bodiesBytesMax: values['http.bodies.bytes.max'],
    bodiesWaitTimeoutMs: values['http.bodies.wait.timeout.ms'],
    responsesBytesMax: values['http.responses.bytes.max'],
  }
}

/** Descriptions of these settings for generated pages. */
export const HTTP_LIMIT_DESCRIPTIONS = Object.fromEntries(
  Object.entries(httpLimitShape).map(([key, type]) => [key, type.description ?? '']),
) as Readonly<Record<keyof typeof httpLimitShape, string>>
