import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../support/temporary-directory.ts'

it('SIGTERM to npm stops the program that it has started, which npm waits for', async () => {
  const args = [
    'run',
    '-s',
    'weir',
    '--',
    'registry',
    '--data',
    temporaryDirectory(),
    '--set',
    'listeners=http://127.0.0.1:0',
  ]
  const npm = spawn('npm', args, {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  onTestFinished(() => killGroup(npm.pid!))
  const log = text(npm.stderr)
  await new Promise<void>((resolve) => {
    npm.stderr.on('data', (chunk: Buffer) => {
      if (chunk.includes('"listening"')) resolve()
    })
  })
  npm.kill('SIGTERM')
  await once(npm, 'exit')
  // The stream ends when no process has it open any more.
  expect(await log).toContain('"listening"')
})

/** Also kills what npm has left behind if the test fails. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended.
  }
}
