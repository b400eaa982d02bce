import { globSync } from 'node:fs'
import { expect, it } from 'vitest'
import { run } from '../env/process.ts'
import { weirCommand } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

it('a start of weir leaves behind what it compiled, for the next one', async () => {
  const directory = temporaryDirectory()
  const command = { ...weirCommand(directory, ['crds']), env: { TMPDIR: directory } }
  expect(await run(command)).toMatchObject({ code: 0 })
  const compiled = () => globSync('node-compile-cache/**/*', { cwd: directory }).length
  const first = compiled()
  expect(first).toBeGreaterThan(10)
  expect(await run(command)).toMatchObject({ code: 0 })
  expect(compiled()).toBe(first)
})
