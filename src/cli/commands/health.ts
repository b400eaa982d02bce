import { messageOf } from '../../common/errors.ts'
import { HttpAgent, readText } from '../../common/http-agent.ts'
import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'

/** The default ports of operator, registry and worker. */
const DEFAULT_URLS = [8080, 8081, 8083].map((port) => `http://127.0.0.1:${port}`)
const TIMEOUT_MS = 3_000
const BODY_BYTES_MAX = 64 * 1024

export const healthCommand: Command = {
  help: `usage: weir health [URL]…

Checks whether running programs are healthy by GET URL/healthz. Without URL, checks the default ports 8080, 8081 and 8083 of
this machine and ignores ports on which nothing listens; at least one program must listen. The image's HEALTHCHECK uses
this command.

Exit codes: 0 all are healthy, 1 one is not, or none listens.

  weir health
  weir health http://127.0.0.1:18081`,

  async run(args) {
    const { positionals } = parseArguments(args, { help: { type: 'boolean', short: 'h' } })
    if (positionals.length > 0) return report(await Promise.all(positionals.map(parseBaseUrl).map(checkHealth)))
    const checks = (await Promise.all(DEFAULT_URLS.map(checkHealth))).filter(({ isListening }) => isListening)
    return report(
      checks.length > 0
        ? checks
        : [{ isListening: false, problem: `no program listens at ${DEFAULT_URLS.join(', ')}` }],
    )
  },
}

/** `problem`: undefined when the program is healthy. */
type HealthCheck = { readonly isListening: boolean; readonly problem: string | undefined }

async function checkHealth(base: string): Promise<HealthCheck> {
  const url = `${base}/healthz`
  const agent = new HttpAgent()
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await agent.send({ method: 'GET', url: new URL(url), headers: {}, signal })
    const body = await readText(response, BODY_BYTES_MAX)
    const problem = response.status === 200 ? undefined : `${url} responds with ${response.status}: ${body.trim()}`
    return { isListening: true, problem }
  } catch (error) {
    const isRefused = (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
    // A program that accepts the connection but does not respond in time listens, and is unhealthy.
    return { isListening: !isRefused, problem: `${url} does not respond: ${messageOf(error)}` }
  } finally {
    agent.close()
  }
}

function report(checks: readonly HealthCheck[]): ExitCode {
  const problems = checks.flatMap(({ problem }) => problem ?? [])
  process.stdout.write(`${problems.length === 0 ? 'healthy' : problems.join('\n')}\n`)
  return problems.length === 0 ? 0 : 1
}

function parseBaseUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text.replace(/\/(?:healthz)?$/, '')
  throw new UsageError(`'${text}' is not a URL: expected one such as http://127.0.0.1:8081`)
}
