import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { weirCommand } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

function startCommand(command: readonly string[], stdout: 'pipe' | number, stderr: 'pipe' | number) {
  const { file, args, directory } = weirCommand(temporaryDirectory(), command)
  const child = spawn(file, args, { cwd: directory, stdio: ['ignore', stdout, stderr] })
  return { child, exited: once(child, 'close') as Promise<[code: number | null, signal: string | null]> }
}

it('ends a command as by SIGPIPE when its output is not read any further', async () => {
  const { child, exited } = startCommand(['crds'], 'pipe', 'pipe')
  child.stdout?.destroy()
  const errors = text(child.stderr!)
  expect((await exited)[0]).toBe(141)
  expect(await errors).toBe('')
})

it('reports an output that cannot be written', async () => {
  const full = openSync('/dev/full', 'w')
  const { child, exited } = startCommand(['crds'], full, 'pipe')
  closeSync(full)
  const errors = text(child.stderr!)
  expect((await exited)[0]).toBe(3)
  expect(await errors).toBe('weir: the output cannot be written: ENOSPC: no space left on device, write\n')
})

it('finishes a command whose messages cannot be written', async () => {
  const full = openSync('/dev/full', 'w')
  const connector = join(temporaryDirectory(), 'connector.json')
  writeFileSync(connector, '{"name":"lines","config":{"connector.class":"FileStreamSource"}}')
  const { child, exited } = startCommand(['convert', connector], 'pipe', full)
  closeSync(full)
  const output = text(child.stdout!)
  expect((await exited)[0]).toBe(0)
  expect(await output).toContain('kind: Connector')
})
