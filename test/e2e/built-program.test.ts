import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { builtProgram } from '../env/built-program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Copies `src`, appends a line to `log` and executes `during.mjs`, which is what the author does during a build. */
const BUILD = `
import { appendFileSync, cpSync } from 'node:fs'
appendFileSync('log', 'built\\n')
cpSync('src', process.argv[3], { recursive: true })
await import('../during.mjs')
`
const COMMAND = 'src/cli/weir.js'

/** A checkout with one source and a build that takes no time. */
function checkout(during = '') {
  const root = temporaryDirectory()
  for (const directory of ['src/cli', 'scripts']) mkdirSync(join(root, directory), { recursive: true })
  const files = { 'scripts/build.mjs': BUILD, 'during.mjs': during, [COMMAND]: 'first', log: '' }
  const inputs = { 'package.json': '{}', 'package-lock.json': '{}', 'tsconfig.json': '{}' }
  for (const [name, text] of Object.entries({ ...files, ...inputs })) writeFileSync(join(root, name), text)
  return {
    root,
    write: (name: string, text: string) => writeFileSync(join(root, name), text),
    builds: () => readFileSync(join(root, 'log'), 'utf8').split('\n').length - 1,
    cached: () => readdirSync(join(root, 'node_modules/.cache/weir-program')).length,
    /** The content of the command that a run of the tests would start. */
    started: async () => readFileSync((await builtProgram(root))['WEIR_CLI']!, 'utf8'),
  }
}

it('a program is built again only after its sources have changed', async () => {
  const { started, builds, write } = checkout()
  expect([await started(), await started(), builds()]).toEqual(['first', 'first', 1])
  write(COMMAND, 'second')
  expect([await started(), builds()]).toEqual(['second', 2])
  write('src/added.js', '')
  expect([await started(), builds()]).toEqual(['second', 3])
  write('package-lock.json', '{"packages":{}}')
  expect([await started(), builds()]).toEqual(['second', 4])
  write(COMMAND, 'first')
  write('package-lock.json', '{}')
  expect([await started(), builds()]).toEqual(['first', 5])
})

it('a source that changes during a build is built again', async () => {
  const { started, builds, cached } = checkout(`
    import { writeFileSync } from 'node:fs'
    writeFileSync('${COMMAND}', 'second')
  `)
  expect([await started(), builds(), cached()]).toEqual(['second', 2, 1])
})

it('concurrent runs use the same build', async () => {
  const { started, cached } = checkout()
  expect(await Promise.all([started(), started(), started()])).toEqual(['first', 'first', 'first'])
  expect(cached()).toBe(1)
})

it('the least recently used builds are removed', async () => {
  const { started, builds, cached, write } = checkout()
  for (const text of ['1', '2', '3', '4', '5', '1', '6', '1']) {
    write(COMMAND, text)
    expect(await started()).toBe(text)
  }
  expect([builds(), cached()]).toEqual([6, 5])
  write(COMMAND, '2')
  expect([await started(), builds(), cached()]).toEqual(['2', 7, 5])
})

it('a build that fails leaves nothing and is reported with its output', async () => {
  const { root, cached, started, write } = checkout(`throw new Error('an import cannot be resolved')`)
  await expect(started()).rejects.toThrow('an import cannot be resolved')
  expect(cached()).toBe(0)
  write('during.mjs', '')
  expect(await started()).toBe('first')
  expect(existsSync(join(root, 'dist'))).toBe(false)
})
