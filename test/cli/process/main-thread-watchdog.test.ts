import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const MODULE = pathToFileURL('src/cli/process/main-thread-watchdog.ts').href
const block = (ms: number) => `setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms}))`

/** Runs a program that starts the watchdog, with a limit of one second, between two pieces of code. */
async function runWithWatchdog(before: string, after: string) {
  const script = `import { startMainThreadWatchdog } from '${MODULE}'
${before}
startMainThreadWatchdog(1_000, { warn() {} })
${after}`
  // A file, because the thread inherits options such as `--eval`.
  const file = join(temporaryDirectory(), 'program.mjs')
  writeFileSync(file, script)
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', 'pipe'] })
  const [stderr, [exitCode, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  return { stderr, exitCode, signal }
}

it('kills a process whose main thread is blocked, and says so', async () => {
  const { stderr, signal } = await runWithWatchdog('', block(60_000))
  expect(signal).toBe('SIGKILL')
  expect(stderr).toContain('"msg":"the main thread is blocked: killing the process"')
})

it('does not keep a process alive', async () => {
  expect(await runWithWatchdog('', '')).toEqual({ stderr: '', exitCode: 0, signal: null })
})

it('is not started in process 1, which the kernel protects', async () => {
  const reportThreads = "process.on('worker', () => process.stderr.write('thread started'))"
  const asProcessOne = "Object.defineProperty(process, 'pid', { value: 1 })"
  expect((await runWithWatchdog(reportThreads, '')).stderr).toBe('thread started')
  expect((await runWithWatchdog(`${reportThreads}\n${asProcessOne}`, '')).stderr).toBe('')
})
