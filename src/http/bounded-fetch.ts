import { HttpAgent, readText } from '../common/http-agent.ts'

const TIMEOUT_MS = 5_000
const BYTES_MAX = 1024 * 1024

/** Fetches a document of at most 1 MiB within five seconds, without following redirects. */
export async function boundedFetch(url: string, ca: () => string | undefined): Promise<Response> {
  const trusted = ca()
  const agent = new HttpAgent(trusted === undefined ? {} : { tls: { ca: trusted } })
  try {
    const response = await agent.send({
      method: 'GET',
      url: new URL(url),
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return new Response(await readText(response, BYTES_MAX), { status: response.status })
  } finally {
    agent.close()
  }
}
