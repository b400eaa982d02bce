import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PROFILE_DIRECTORY } from '../bench/profile-process.ts'
import { run } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'

const PROFILER = `--import=${import.meta.resolve('../bench/profile-process.ts')}`

/** Starts itself, and kills that process when it has worked for a while. */
const PROGRAM = `
import { fork } from 'node:child_process'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
if (!isMainThread) {
  const startMs = performance.now()
  let kept
  while (performance.now() - startMs < 100) kept = allocateInThread()
  parentPort.postMessage(kept.length)
  setInterval(() => undefined, 1_000)
} else if (process.send === undefined) {
  const child = fork(import.meta.filename, ['worker'])
  child.once('message', () => child.kill('SIGKILL'))
  await new Promise((resolve) => child.once('exit', resolve))
} else {
  const startMs = performance.now()
  let kept
  while (performance.now() - startMs < 100) kept = allocateInWorker()
  new Worker(import.meta.filename).once('message', (length) => process.send(length + kept.length))
  setInterval(() => undefined, 1_000)
}
function allocateInWorker() {
  return Array.from({ length: 10_000 }, (_, index) => ({ index }))
}
function allocateInThread() {
  return Array.from({ length: 10_000 }, (_, index) => ({ index, thread: true }))
}
`

it('each thread of a process that its parent kills writes a profile of its CPU time and one of its allocations', async () => {
  const directory = partDirectory('profiles')
  const script = join(directory, 'program.mjs')
  writeFileSync(script, PROGRAM)

  const env = { NODE_OPTIONS: PROFILER, [PROFILE_DIRECTORY]: directory }
  const { code, stderr } = await run({ file: process.execPath, args: [script], directory, env })

  expect(code, stderr).toBe(0)
  const written = readdirSync(directory).filter((file) => /-worker-|-thread-/.test(file))
  const kinds = written.map((file) => file.replace(/-\d+/, '')).sort()
  expect(kinds).toEqual([
    'program-thread-1.cpuprofile',
    'program-thread-1.heapprofile',
    'program-worker.cpuprofile',
    'program-worker.heapprofile',
  ])
  for (const file of written) {
    const name = file.includes('-thread-') ? 'allocateInThread' : 'allocateInWorker'
    expect(readFileSync(join(directory, file), 'utf8')).toContain(name)
  }
})
