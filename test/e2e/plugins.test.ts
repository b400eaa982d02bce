import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { run } from '../env/process.ts'
import { runWeir as weir } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const ROOT = join(import.meta.dirname, '../..')
const WAIT = { everyMs: 50, timeoutMs: 120_000 }

/** What `npm install` does for the one dependency a new plugin has. */
function installSdk(folder: string): void {
  const weirPackage = join(folder, 'node_modules/weir')
  mkdirSync(weirPackage, { recursive: true })
  symlinkSync(join(ROOT, 'src'), join(weirPackage, 'src'))
  writeFileSync(join(weirPackage, 'package.json'), JSON.stringify({ exports: { './sdk': './src/sdk/index.ts' } }))
}

describe('weir plugins', () => {
  it.each([
    ['TickSource', 'source'],
    ['ParcelSink', 'sink'],
    ['PrefixRouter', 'transform'],
  ])('new %s creates a %s whose test passes and which a worker can run', async (name, kind) => {
    const directory = temporaryDirectory()
    const made = await weir(directory, 'plugins', 'new', name, '--kind', kind)
    expect(made).toMatchObject({ code: 0 })
    const folder = join(directory, made.stdout.split(':')[0]!)
    installSdk(folder)
    const tested = await run({ file: process.execPath, args: ['--test'], directory: folder })
    expect(tested.stdout).toContain('pass 1')
    expect(tested.code).toBe(0)

    const listed = await weir(directory, 'plugins', 'list', '--plugin-path', folder)
    expect(listed).toMatchObject({ code: 0, stderr: '' })
    expect(listed.stdout).toMatch(new RegExp(`${name} +0\\.1\\.0`))
    const described = await weir(directory, 'plugins', 'describe', name, '--plugin-path', folder)
    expect(described.stdout).toContain(`# ${name}\n`)
    expect(await weir(directory, 'plugins', 'new', name)).toMatchObject({ code: 1 })
  })

  it('list reports plugins that cannot be loaded, and exits with 1', async () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'broken.ts'), 'throw new Error("out of order")')
    const { code, stdout, stderr } = await weir(directory, 'plugins', 'list', '--plugin-path', directory)
    expect(code).toBe(1)
    expect(stdout).toContain('org.apache.kafka.connect.transforms.Cast$Value')
    expect(stderr).toBe(`${join(directory, 'broken.ts')}: out of order\n`)
  })

  it('describe prints both variants of a transform, and reports an unknown plugin', async () => {
    const directory = temporaryDirectory()
    const { stdout } = await weir(directory, 'plugins', 'describe', 'Cast')
    expect(stdout).toContain('`Cast$Key`')
    expect(stdout).toContain('| `spec` |')
    const unknown = await weir(directory, 'plugins', 'describe', 'Cats')
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("plugin 'Cats' not found") })
  })
})

describe('a worker with a plugin path', () => {
  it('runs its connectors and transforms, lists their versions, and ignores a broken plugin', async () => {
    const directory = temporaryDirectory()
    const plugins = join(directory, 'plugins')
    mkdirSync(plugins)
    for (const [name, kind] of [
      ['TickSource', 'source'],
      ['PrefixRouter', 'transform'],
    ]) {
      expect(await weir(plugins, 'plugins', 'new', name!, '--kind', kind!)).toMatchObject({ code: 0 })
    }
    writeFileSync(join(plugins, 'broken.ts'), 'throw new Error("out of order")')
    const worker = await startWorkerProcess({
      log: ['--data', join(directory, 'data')],
      groupId: 'plugins',
      settings: { 'plugin.path': plugins },
    })
    onTestFinished(() => worker.stop())
    const client = createWorkerClient({ url: worker.url })
    const listed = await client.plugins({ connectorsOnly: false })
    expect(listed).toContainEqual({ class: 'TickSource', type: 'source', version: '0.1.0' })
    expect(listed).toContainEqual({ class: 'PrefixRouter', type: 'transformation', version: '0.1.0' })

    await client.create('ticks', {
      'connector.class': 'TickSource',
      topic: 'numbers',
      transforms: 'prefix',
      'transforms.prefix.type': 'PrefixRouter',
      'transforms.prefix.prefix': 'some-',
    })
    await until('its topic', WAIT, async () => (await client.topics('ticks')).includes('some-numbers'))
    const log = readFileSync(worker.logFile, 'utf8')
    const told = log.split('\n').find((line) => line.includes('could not be loaded')) ?? '{}'
    expect(JSON.parse(told)).toMatchObject({
      level: 'error',
      file: join(plugins, 'broken.ts'),
      reason: 'out of order',
    })
    await client.delete('ticks')
  })
})
