import { globSync } from 'node:fs'
import { expect, it } from 'vitest'
import { run } from '../env/process.ts'
import { weirCommand } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

it('weir writes compiled code to a cache, which its next start uses', async () => {
  const directory = temporaryDirectory()
  const command = { ...weirCommand(directory, ['crds']), env: { TMPDIR: directory, NODE_COMPILE_CACHE: '' } }
  expect(await run(command)).toMatchObject({ code: 0 })
  const compiled = () => globSync('node-compile-cache/**/*', { cwd: directory }).length
  const first = compiled()
  expect(first).toBeGreaterThan(10)
  expect(await run(command)).toMatchObject({ code: 0 })
  expect(compiled()).toBe(first)
})
