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
if (process.send === undefined) {
  const child = fork(import.meta.filename, ['worker'])
  child.once('message', () => child.kill('SIGKILL'))
  await new Promise((resolve) => child.once('exit', resolve))
} else {
  const startMs = performance.now()
  let kept
  while (performance.now() - startMs < 100) kept = allocateInWorker()
  process.send(kept.length)
  setInterval(() => undefined, 1_000)
}
function allocateInWorker() {
  return Array.from({ length: 10_000 }, (_, index) => ({ index }))
}
`

it('a process that its parent kills writes a profile of its CPU time and one of its allocations', async () => {
  const directory = partDirectory('profiles')
  const script = join(directory, 'program.mjs')
  writeFileSync(script, PROGRAM)

  const env = { NODE_OPTIONS: PROFILER, [PROFILE_DIRECTORY]: directory }
  const { code, stderr } = await run({ file: process.execPath, args: [script], directory, env })

  expect(code, stderr).toBe(0)
  const files = readdirSync(directory).filter((file) => file.startsWith('program-worker-'))
  expect(files.map((file) => file.replace(/.*\./, '')).sort()).toEqual(['cpuprofile', 'heapprofile'])
  for (const file of files) expect(readFileSync(join(directory, file), 'utf8')).toContain('allocateInWorker')
})
