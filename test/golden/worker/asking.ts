import { type IncomingMessage, request } from 'node:http'
import type { Exchange } from './recording.ts'

export type Answer = Pick<Exchange, 'status' | 'answerHeaders' | 'answer'>

const KEPT = ['content-type', 'allow', 'location']

/** Sends a recorded request unchanged. `fetch` would reject TRACE and normalize paths. */
export async function ask(url: string, { method, path, headers, request: body }: Exchange): Promise<Answer> {
  const { hostname, port } = new URL(url)
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request({ hostname, port, method, path, headers: { ...headers, ...length }, agent: false }, resolve)
    sending.once('error', reject)
    sending.end(body)
  })
  const answer = (await response.setEncoding('utf8').toArray()).join('')
  const kept = KEPT.flatMap((name) => {
    const value = response.headers[name]
    return value === undefined ? [] : [[name, String(value)]]
  })
  return { status: response.statusCode ?? 0, answerHeaders: Object.fromEntries(kept), answer }
}
