import { Readable } from 'node:stream'
import type { S3ClientConfig } from '@aws-sdk/client-s3'
import type { Transport } from '../http/transport.ts'

type HttpHandler = Extract<NonNullable<S3ClientConfig['requestHandler']>, { handle: unknown }>
type HttpRequest = Parameters<HttpHandler['handle']>[0]
type Query = Readonly<Record<string, string | string[] | null>>

/** Sends the requests of Amazon's client, so that they go where an administrator allows, and through the proxy if there is one. */
export function s3RequestHandler(transport: Transport, signal: AbortSignal): HttpHandler {
  return {
    async handle(request: HttpRequest) {
      const { status, headers, body } = await transport.send({
        method: request.method,
        url: urlOf(request),
        headers: sentHeaders(request.headers),
        ...(isBytes(request.body) && { body: request.body }),
        signal,
      })
      return { response: { statusCode: status, headers: received(headers), body: Readable.from([body]) } }
    },
    updateHttpClientConfig: () => {},
    httpHandlerConfigs: () => ({}),
    destroy: () => {},
  }
}

function isBytes(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array
}

function urlOf({ protocol, hostname, port, path, query }: HttpRequest): string {
  const parameters = Object.entries(query as Query).flatMap(([name, value]) => {
    if (value === null) return [escaped(name)]
    return [value].flat().map((item) => `${escaped(name)}=${escaped(item)}`)
  })
  const host = port === undefined ? hostname : `${hostname}:${port}`
  return `${protocol}//${host}${path}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`
}

/** As the client signs it. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Without `Expect`, which undici does not support. */
function sentHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'expect'))
}

function received(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value = '']) => [name, [value].flat().join(', ')]))
}
