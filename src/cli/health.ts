import { messageOf } from '../config/failure.ts'
import { type Command, type ExitCode, readArgs, UsageError } from './command.ts'

/** Where an operator, a registry and a worker of this machine answer, unless they were told another port. */
const USUAL = [8080, 8081, 8083].map((port) => `http://127.0.0.1:${port}`)
const TIMEOUT_MS = 3_000

export const health: Command = {
  help: `usage: weir health [URL]…

Asks running programs whether they are healthy: GET URL/healthz of each. Without URL those of this machine are asked that
listen where they do by default, at port 8080, 8081 or 8083: one at least has to be there. The image asks so by itself.

Exit codes: 0 all answer that they are, 1 one does not.

  weir health
  weir health http://127.0.0.1:18081`,

  async run(args) {
    const { positionals } = readArgs(args, { help: { type: 'boolean', short: 'h' } })
    if (positionals.length > 0) return report(await Promise.all(positionals.map(parseBase).map(ask)))
    const answers = (await Promise.all(USUAL.map(ask))).filter(({ isThere }) => isThere)
    return report(answers.length > 0 ? answers : [{ isThere: false, trouble: `nobody answers at ${USUAL.join(', ')}` }])
  },
}

/** `trouble`: undefined where it is healthy. */
type Answer = { readonly isThere: boolean; readonly trouble: string | undefined }

async function ask(base: string): Promise<Answer> {
  const url = `${base}/healthz`
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const trouble = response.ok ? undefined : `${url} answers ${response.status}: ${(await response.text()).trim()}`
    return { isThere: true, trouble }
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    const isRefused = (cause as NodeJS.ErrnoException).code === 'ECONNREFUSED'
    // Who takes the connection and then says nothing is there, and ill.
    return { isThere: !isRefused, trouble: `${url} does not answer: ${messageOf(cause)}` }
  }
}

function report(answers: readonly Answer[]): ExitCode {
  const troubles = answers.flatMap(({ trouble }) => trouble ?? [])
  process.stdout.write(`${troubles.length === 0 ? 'healthy' : troubles.join('\n')}\n`)
  return troubles.length === 0 ? 0 : 1
}

function parseBase(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text.replace(/\/(?:healthz)?$/, '')
  throw new UsageError(`'${text}' is no URL: expected one such as http://127.0.0.1:8081`)
}
