import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { KubeConfig } from '@kubernetes/client-node'
import { onTestFinished } from 'vitest'
import { KubernetesApi } from '../../src/clients/kubernetes/kubernetes-api.ts'

export type ApiRequest = {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly accept: string | undefined
  readonly contentType: string | undefined
  readonly body: unknown
}

/** An API server whose requests the test answers one by one. It records all requests in `asked`. */
export type ScriptedApi = {
  readonly url: string
  readonly api: KubernetesApi
  readonly asked: ApiRequest[]
  /** Resolves with the next request that the test has not taken yet. */
  next(): Promise<{ readonly asked: ApiRequest; readonly response: ServerResponse }>
}

export async function scriptedApi(): Promise<ScriptedApi> {
  const asked: ApiRequest[] = []
  const waiting: { readonly asked: ApiRequest; readonly response: ServerResponse }[] = []
  const wanted: ((one: (typeof waiting)[number]) => void)[] = []
  const server = createServer((request, response) => {
    void read(request).then((one) => {
      asked.push(one)
      const exchange = { asked: one, response }
      const taker = wanted.shift()
      if (taker === undefined) waiting.push(exchange)
      else taker(exchange)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    api: apiAt(url),
    asked,
    next: () => {
      const first = waiting.shift()
      return first === undefined ? new Promise((resolve) => wanted.push(resolve)) : Promise.resolve(first)
    },
  }
}

export const json = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function apiAt(server: string): KubernetesApi {
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'c', server, skipTLSVerify: true }, { name: 'u', token: 'secret' })
  return new KubernetesApi(config)
}

async function read(request: IncomingMessage): Promise<ApiRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
  const text = Buffer.concat(chunks).toString()
  return {
    method: request.method!,
    path: pathname,
    query: searchParams,
    accept: request.headers.accept,
    contentType: request.headers['content-type'],
    body: text === '' ? undefined : JSON.parse(text),
  }
}
