import { fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Figure } from './figures.ts'
import type { PartName } from './parts.ts'
import type { PartResult } from './report.ts'
import { progress, type Settings } from './settings.ts'

/** Time in which the processes of a part that was killed end. */
const REAP_MS = 2_000

/** Runs one part within the time limit. A part that fails has no figures, and the others still run. */
export async function runPart(part: PartName, settings: Settings, limitMs: number): Promise<PartResult> {
  const startMs = performance.now()
  const outcome = await outcomeOf(part, settings, limitMs)
  const seconds = (performance.now() - startMs) / 1_000
  progress(`${part}: ${'failure' in outcome ? outcome.failure : 'done'} after ${seconds.toFixed(0)} s`)
  return { part, seconds, ...outcome }
}

async function outcomeOf(
  part: PartName,
  settings: Settings,
  limitMs: number,
): Promise<{ readonly figures: readonly Figure[] } | { readonly failure: string }> {
  const script = join(import.meta.dirname, 'part-main.ts')
  const child = fork(script, [part, JSON.stringify(settings)], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
  const ended = Promise.withResolvers<number | null>()
  let figures: readonly Figure[] | undefined
  let errors = ''
  child.on('message', (message) => {
    figures = message as readonly Figure[]
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text)
    errors = (errors + text).slice(-20_000)
  })
  child.once('error', ended.reject)
  child.once('close', ended.resolve)
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
  const code = await ended.promise
  clearTimeout(timer)
  if (figures !== undefined) return { figures }
  await sleep(REAP_MS)
  if (code === null) return { failure: `stopped after its limit of ${Math.round(limitMs / 1_000)} s` }
  return { failure: /^\w*Error: (.+)/m.exec(errors)?.[1] ?? `exit code ${code}` }
}
