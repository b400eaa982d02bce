import { globSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { crc32 } from 'node:zlib'
import { expect, it, vi } from 'vitest'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { run } from '../env/process.ts'
import { weirCommand } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

/** The value of Node's `CachedCodeType::kESM`. */
const ESM = 1

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

it('the processes of tasks and plugins write compiled code to the cache of their worker when they end', async () => {
  const directory = temporaryDirectory()
  const cache = join(directory, 'cache')
  vi.stubEnv('NODE_COMPILE_CACHE', cache)
  const worker = await startWorkerProcess({ log: ['--data', join(directory, 'data')], groupId: 'cached' })
  try {
    const file = join(directory, 'in.txt')
    writeFileSync(file, 'one\n')
    const config = { 'connector.class': 'FileStreamSource', file, topic: 'lines' }
    const client = createWorkerClient({ url: worker.url })
    await client.create('lines', config)
    const wait = { everyMs: 100, timeoutMs: 120_000 }
    await until(
      'its task to run',
      wait,
      async () => (await client.list())['lines']?.status?.tasks[0]?.state === 'RUNNING',
    )
    expect(await worker.terminate(60_000)).toBe(0)
    const modules = [
      'cli/weir',
      'worker/isolation/tasks/task-process-main',
      'worker/isolation/plugins/plugin-process-main',
    ]
    expect(modules.filter((module) => !isCached(cache, module))).toEqual([])
  } finally {
    await worker.kill()
    vi.unstubAllEnvs()
  }
})

/** Whether the cache has the code of a module of the program, which Node names by its type and URL. */
function isCached(cache: string, module: string): boolean {
  const program = weirCommand('.', []).args.at(-1) as string
  const url = pathToFileURL(join(dirname(program), '..', `${module}${extname(program)}`)).href
  const name = crc32(url, crc32(Buffer.of(ESM)))
  return globSync(`*/${name.toString(16).padStart(8, '0')}`, { cwd: cache }).length > 0
}
