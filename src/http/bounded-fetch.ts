import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'

const TIMEOUT_MS = 5_000
const BYTES_MAX = 1024 * 1024

/** Fetches a document of at most 1 MiB within five seconds, without following redirects. */
export async function boundedFetch(url: string, ca: () => string | undefined): Promise<Response> {
  const trusted = ca()
  const options = { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(TIMEOUT_MS) }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = url.startsWith('https:')
      ? overHttps(url, { ...options, ...(trusted === undefined ? {} : { ca: trusted }) })
      : overHttp(url, options)
    sent.once('response', resolve).once('error', reject).end()
  })
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BYTES_MAX) throw new Error(`the response of ${url} is larger than ${BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return new Response(Buffer.concat(chunks), { status: response.statusCode ?? 500 })
}
