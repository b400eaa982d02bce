import { fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Work } from './part-main.ts'
import { progress, type Settings } from './settings.ts'

/** Time in which the processes of a part that was killed end. */
const REAP_MS = 2_000

/** The result of a process, or the reason why it has none. */
export type Outcome<Result> = { readonly seconds: number } & (
  | { readonly result: Result }
  | { readonly failure: string }
)

/** Measures a part or a curve within the time limit. Does not throw: one that fails has no result. */
export async function measureInProcess<Result>(
  work: Work,
  settings: Settings,
  limitMs: number,
): Promise<Outcome<Result>> {
  const startMs = performance.now()
  const outcome = await outcomeOf<Result>(work, settings, limitMs)
  const seconds = (performance.now() - startMs) / 1_000
  progress(`${work.join(' ')}: ${'failure' in outcome ? outcome.failure : 'done'} after ${seconds.toFixed(0)} s`)
  return { seconds, ...outcome }
}

async function outcomeOf<Result>(work: Work, settings: Settings, limitMs: number) {
  const script = join(import.meta.dirname, 'part-main.ts')
  const child = fork(script, [...work, JSON.stringify(settings)], {
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    env: { ...process.env, WEIR_CLI: join(settings.checkout, 'dist/cli/weir.js') },
  })
  const ended = Promise.withResolvers<number | null>()
  let message: { readonly result: Result } | undefined
  let errors = ''
  child.on('message', (result) => {
    message = { result: result as Result }
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text)
    errors = (errors + text).slice(-20_000)
  })
  child.once('error', ({ message: reason }) => {
    errors = `Error: ${reason}`
    ended.resolve(1)
  })
  child.once('close', ended.resolve)
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const code = await ended.promise
  clearTimeout(timer)
  if (message !== undefined) return message
  await sleep(REAP_MS)
  if (code === null) return { failure: `stopped after its limit of ${Math.round(limitMs / 1_000)} s` }
  return { failure: /^\w*Error: (.+)/m.exec(errors)?.[1] ?? `exit code ${code}` }
}
