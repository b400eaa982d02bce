import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { describeConcurrently } from '../support/concurrent-tests.ts'
import { descendantsOf, isGone } from '../support/process-tree.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

const MODULE = pathToFileURL('src/cli/process/main-thread-watchdog.ts').href
const KILLED = '"msg":"the main thread is blocked: killing the process"'
const WAIT = { everyMs: 20, timeoutMs: 120_000 }
/** Intervals of 250 ms. */
const MORE_THAN_LIMIT = 6
const ALIVE = 'setInterval(() => {}, 1_000)'
const REPORT_THREADS = "process.on('worker', () => process.stderr.write('thread started'))"
const block = (ms: number) => `setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms}))`

/** Starts a program that runs `before`, starts the watchdog with a limit of one second, and runs `after`. */
function startWithWatchdog(before: string, after: string, options: { readonly shell?: string } = {}) {
  const script = `import { startMainThreadWatchdog } from '${MODULE}'
${before}
startMainThreadWatchdog(1_000, { warn() {} }, ${JSON.stringify(options)})
${after}`
  // A file, because the thread inherits options such as `--eval`.
  const file = join(temporaryDirectory(), 'program.mjs')
  writeFileSync(file, script)
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'ignore', 'pipe'] })
  return { child, pid: child.pid!, stderr: text(child.stderr), exited: once(child, 'exit') }
}

async function runWithWatchdog(...program: Parameters<typeof startWithWatchdog>) {
  const { stderr, exited } = startWithWatchdog(...program)
  const [written, [exitCode, signal]] = await Promise.all([stderr, exited])
  return { stderr: written, exitCode, signal }
}

/** The shell that watches a process. */
async function watchdogOf(pid: number): Promise<number> {
  const shells = () =>
    descendantsOf(pid).filter((one) => readFileSync(`/proc/${one}/cmdline`, 'utf8').includes('weir-watchdog'))
  await until('the watchdog to start', WAIT, () => shells().length > 0)
  return shells()[0]!
}

/** Waits until a watchdog has begun this number of intervals. */
async function untilIntervals(count: number, watchdog: number): Promise<void> {
  const seen = new Set<number>()
  await until(`${count} intervals`, WAIT, () => {
    for (const sleep of descendantsOf(watchdog)) seen.add(sleep)
    return seen.size >= count
  })
}

describeConcurrently('the watchdog of the main thread', () => {
  it.each([
    ['a shell', {}],
    ['a thread, where there is no shell', { shell: '/no/shell' }],
    ['a thread, where the shell cannot watch a process', { shell: '/bin/false' }],
  ])('%s kills a process whose main thread is blocked, and says so', async (_, options) => {
    const { stderr, signal } = await runWithWatchdog('', `setTimeout(() => ${block(60_000)}, 500)`, options)
    expect(signal).toBe('SIGKILL')
    expect(JSON.parse(stderr)).toMatchObject({ level: 'fatal', msg: 'the main thread is blocked: killing the process' })
    expect(JSON.parse(stderr).blockedMs).toBeGreaterThanOrEqual(1_000)
  })

  it('does not keep a process alive', async () => {
    expect(await runWithWatchdog('', '')).toEqual({ stderr: '', exitCode: 0, signal: null })
    expect((await runWithWatchdog('', '', { shell: '/no/shell' })).exitCode).toBe(0)
  })

  it('does not kill a process that responds, or that was stopped, however long', async () => {
    const { child, pid, stderr, exited } = startWithWatchdog('', ALIVE)
    const watchdog = await watchdogOf(pid)
    child.kill('SIGSTOP')
    await untilIntervals(MORE_THAN_LIMIT, watchdog)
    child.kill('SIGCONT')
    await untilIntervals(MORE_THAN_LIMIT, watchdog)
    expect(child.signalCode).toBeNull()
    child.kill('SIGKILL')
    await exited
    expect(await stderr).toBe('')
  })

  it('ignores the signals that end all processes of a terminal or a service, and ends with its process', async () => {
    const { child, pid, exited } = startWithWatchdog('', ALIVE)
    const watchdog = await watchdogOf(pid)
    await untilIntervals(1, watchdog)
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const) process.kill(watchdog, signal)
    await untilIntervals(3, watchdog)
    child.kill('SIGKILL')
    await exited
    await until('the watchdog to end', WAIT, () => isGone(watchdog))
  })

  it('a thread replaces a shell that ended', async () => {
    const { child, pid, stderr, exited } = startWithWatchdog(
      REPORT_THREADS,
      `${ALIVE}; process.once('worker', () => ${block(60_000)})`,
    )
    process.kill(await watchdogOf(pid), 'SIGKILL')
    await exited
    expect(child.signalCode).toBe('SIGKILL')
    expect(await stderr).toContain(KILLED)
  })

  it('is not started in process 1, which the kernel protects', async () => {
    const asProcessOne = "Object.defineProperty(process, 'pid', { value: 1 })"
    const reportChildren = "process.stderr.write(fs.readFileSync('/proc/thread-self/children', 'utf8'))"
    const program = `import fs from 'node:fs'\n${REPORT_THREADS}`
    expect((await runWithWatchdog(program, reportChildren)).stderr).toMatch(/^\d+ $/)
    expect((await runWithWatchdog(`${program}\n${asProcessOne}`, reportChildren)).stderr).toBe('')
  })
})
