import { messageOf } from '../../config/errors.ts'
import { type Command, type ExitCode, parseArguments, UsageError } from '../command.ts'

/** Where an operator, a registry and a worker of this machine answer, unless they were told another port. */
const DEFAULT_URLS = [8080, 8081, 8083].map((port) => `http://127.0.0.1:${port}`)
const TIMEOUT_MS = 3_000

export const healthCommand: Command = {
  help: `usage: weir health [URL]…

Asks running programs whether they are healthy: GET URL/healthz of each. Without URL those of this machine are asked that
listen where they do by default, at port 8080, 8081 or 8083: one at least has to be there. The image asks so by itself.

Exit codes: 0 all answer that they are, 1 one does not.

  weir health
  weir health http://127.0.0.1:18081`,

  async run(args) {
    const { positionals } = parseArguments(args, { help: { type: 'boolean', short: 'h' } })
    if (positionals.length > 0) return report(await Promise.all(positionals.map(parseBaseUrl).map(checkHealth)))
    const answers = (await Promise.all(DEFAULT_URLS.map(checkHealth))).filter(({ isListening: isThere }) => isThere)
    return report(
      answers.length > 0 ? answers : [{ isListening: false, problem: `nobody answers at ${DEFAULT_URLS.join(', ')}` }],
    )
  },
}

/** `trouble`: undefined where it is healthy. */
type HealthCheck = { readonly isListening: boolean; readonly problem: string | undefined }

async function checkHealth(base: string): Promise<HealthCheck> {
  const url = `${base}/healthz`
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const trouble = response.ok ? undefined : `${url} answers ${response.status}: ${(await response.text()).trim()}`
    return { isListening: true, problem: trouble }
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    const isRefused = (cause as NodeJS.ErrnoException).code === 'ECONNREFUSED'
    // Who takes the connection and then says nothing is there, and ill.
    return { isListening: !isRefused, problem: `${url} does not answer: ${messageOf(cause)}` }
  }
}

function report(answers: readonly HealthCheck[]): ExitCode {
  const troubles = answers.flatMap(({ problem: trouble }) => trouble ?? [])
  process.stdout.write(`${troubles.length === 0 ? 'healthy' : troubles.join('\n')}\n`)
  return troubles.length === 0 ? 0 : 1
}

function parseBaseUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text.replace(/\/(?:healthz)?$/, '')
  throw new UsageError(`'${text}' is no URL: expected one such as http://127.0.0.1:8081`)
}
