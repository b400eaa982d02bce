import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { cpuMs } from '../bench/process.ts'
import { startQuickstart } from '../bench/start/programs.ts'
import { must } from '../env/debian.ts'
import { partDirectory } from '../env/workspace.ts'
import type { Program } from '../support/cli.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const ROOT = join(import.meta.dirname, '../..')
const BUILD_MS = 300_000
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
}
/** Size of the page of the console as it is sent. */
const PAGE_BYTES_MAX = 120_000
/** Files that the main thread of a worker, and of `weir up`, may load until it is ready. */
const WORKER_FILES_MAX = 75
const UP_FILES_MAX = 170
/**
 * CPU time of a start, compared with that of Node.js itself in the same minute: a busy machine needs more of it for the same
 * work. `weir up` needs 21 to 25, and 27 beside 20 busy processes.
 */
const NODE_STARTS_MAX = 34
const npm = (...args: readonly string[]) => must({ file: 'npm', args, directory: ROOT })

describe('the npm package', () => {
  const folder = partDirectory('package')
  let files: readonly string[]
  beforeAll(async () => {
    // Builds it, and asks publint and attw whether whoever installs it can import and type-check what it exports.
    await npm('run', '--silent', 'release:check')
    await npm('pack', '--silent', '--pack-destination', folder)
    const archive = `weir-${manifest.version}.tgz`
    files = (await must({ file: 'tar', args: ['-tzf', archive], directory: folder })).trim().split('\n')
    await must({ file: 'tar', args: ['-xzf', archive], directory: folder })
    // What it depends on.
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  }, BUILD_MS)

  it('contains the compiled code and its types only', () => {
    const others = files.filter((name) => !/^package\/dist\/.+\.(?:js|d\.ts)$/.test(name))
    expect(others.toSorted()).toEqual([
      'package/LICENSE',
      'package/README.md',
      'package/dist/LICENSES.txt',
      'package/dist/console/page/icon.svg',
      'package/dist/console/page/style.css',
      'package/dist/plugins/shipped-descriptors.json',
      'package/package.json',
    ])
    expect(files).toEqual(expect.arrayContaining(['package/dist/cli/weir.js', 'package/dist/sdk/index.d.ts']))
  })

  it('provides the command weir with all its commands', async () => {
    const args = ['package/dist/cli/weir.js', '--help']
    expect(await must({ file: process.execPath, args, directory: folder })).toContain('usage: weir COMMAND')
  })

  it('contains the licenses of the libraries whose code it contains', () => {
    const licences = readFileSync(join(folder, 'package/dist/LICENSES.txt'), 'utf8')
    for (const name of ['fastify', 'kafkajs', 'zod']) {
      expect(licences).toContain(`${name} ${manifest.dependencies[name]} (`)
    }
  })

  it('contains the page of the console as one small file that imports nothing', async () => {
    const code = readFileSync(join(folder, 'package/dist/console/page/main.js'))
    expect(code.toString()).not.toMatch(/(?:^|[;}\n])import[\s"'{*]|[}\s*]from\s*["']/)
    expect(gzipSync(code).length).toBeLessThan(PAGE_BYTES_MAX)
  })

  it('runs a worker with its console and its task and plugin processes', async () => {
    vi.stubEnv('WEIR_CLI', join(folder, 'package/dist/cli/weir.js'))
    const worker = await startWorkerProcess({ log: ['--data', partDirectory('data')], groupId: 'packaged' })
    try {
      expect(await (await fetch(`${worker.url}/ui`)).text()).toContain('src="ui/assets/main.js"')
      expect((await fetch(`${worker.url}/ui/assets/main.js`)).headers.get('content-type')).toMatch(/^text\/javascript/)
      const client = createWorkerClient({ url: worker.url })
      const converters = { 'key.converter': 'StringConverter', 'value.converter': 'JsonConverter' }
      const config = { 'connector.class': 'Datagen', 'kafka.topic': 'made', quickstart: 'users', ...converters }
      await client.create('made', config)
      await until('the task to run', { everyMs: 100, timeoutMs: 120_000 }, async () => {
        const { status } = (await client.list())['made'] ?? {}
        return status?.tasks[0]?.state === 'RUNNING'
      })
    } finally {
      await worker.stop()
      vi.unstubAllEnvs()
    }
  })

  it.each([
    { name: 'a worker', filesMax: WORKER_FILES_MAX, start: startEmbeddedWorker },
    { name: 'weir up', filesMax: UP_FILES_MAX, start: startUp },
  ])('starts $name within its budget of files and CPU time', async ({ filesMax, start }) => {
    vi.stubEnv('WEIR_CLI', join(folder, 'package/dist/cli/weir.js'))
    const { hook, loaded } = loadCounter()
    const nodeMs: number[] = []
    const starts: { readonly cpuMs: number; readonly files: number }[] = []
    try {
      // The first start compiles the code, for the cache of the others.
      for (let round = 0; round < 5; round++) {
        nodeMs.push(await nodeStartMs(), await nodeStartMs())
        const before = loaded()
        const program = await start([`--import=${hook}`])
        starts.push({ cpuMs: await cpuMs(program.pid), files: loaded() - before })
        await program.stop()
      }
    } finally {
      vi.unstubAllEnvs()
    }
    expect(Math.min(...starts.map(({ files }) => files))).toBeGreaterThan(10)
    expect(Math.max(...starts.map(({ files }) => files))).toBeLessThanOrEqual(filesMax)
    // What interferes only adds to both.
    expect(Math.min(...starts.map((one) => one.cpuMs)) / Math.min(...nodeMs)).toBeLessThanOrEqual(NODE_STARTS_MAX)
  })

  it('exports the SDK as weir/sdk', async () => {
    const script = `import { field } from 'weir/sdk'; console.log(typeof field.double)`
    const args = ['--input-type=module', '-e', script]
    const printed = await must({ file: process.execPath, args, directory: join(folder, 'package') })
    expect(printed).toBe('function\n')
  })
})

type Component = {
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly licenses?: readonly object[]
}

async function billOfMaterials(...options: readonly string[]) {
  const printed = await npm('run', '--silent', 'sbom', '--', ...options)
  return JSON.parse(printed) as { readonly bomFormat: string; readonly components: readonly Component[] }
}

it('the bill of materials lists all dependencies with their licenses, and no development tools', async () => {
  const bill = await billOfMaterials()
  expect(bill.bomFormat).toBe('CycloneDX')
  const names = new Map(bill.components.map((component) => [component.name, component]))
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    expect(names.get(name)).toMatchObject({ version, licenses: [expect.anything()] })
  }
  expect(['vitest', 'typescript', '@biomejs/biome', 'testcontainers'].filter((name) => names.has(name))).toEqual([])
})

it('the bill of materials of the image with Java also lists the libraries of the Java host', async () => {
  const { components } = await billOfMaterials('--java')
  const java = components.filter(({ purl }) => purl.startsWith('pkg:maven/'))
  const libraries = ['libraries', 'resolver'].flatMap((list) =>
    Object.entries(JSON.parse(readFileSync(join(ROOT, `java/host/${list}.json`), 'utf8'))),
  )
  expect(java.map(({ purl }) => purl.slice('pkg:maven/'.length).replace(/[/@]/g, ':'))).toEqual(
    libraries.map(([name]) => name),
  )
  expect(java).toEqual(
    libraries.map(([, content]) =>
      expect.objectContaining({ hashes: [{ alg: 'SHA-512', content }], licenses: [expect.anything()] }),
    ),
  )
  expect(components.length - java.length).toBe((await billOfMaterials()).components.length)
})

function startEmbeddedWorker(nodeArgs: readonly string[]): Promise<Program> {
  return startWorkerProcess({ log: ['--data', partDirectory('data')], groupId: 'packaged', nodeArgs })
}

async function startUp(nodeArgs: readonly string[]): Promise<Program> {
  return (await startQuickstart(nodeArgs)).program
}

/** A module that counts the files that the main thread of a program loads, and the count of all programs so far. */
function loadCounter() {
  const directory = partDirectory('loads')
  const log = join(directory, 'loads.log')
  const hook = join(directory, 'count-loads.mjs')
  writeFileSync(log, '')
  writeFileSync(
    hook,
    `import { appendFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    import { isMainThread } from 'node:worker_threads'
    const isProgram = isMainThread && process.argv[1].endsWith('/weir.js')
    const load = (url, context, next) => {
      if (isProgram && url.startsWith('file:')) appendFileSync(${JSON.stringify(log)}, '.')
      return next(url, context)
    }
    registerHooks({ load })`,
  )
  return { hook, loaded: () => readFileSync(log).length }
}

/** CPU time that Node.js needs to start, in ms. */
async function nodeStartMs(): Promise<number> {
  const script = 'const { user, system } = process.cpuUsage(); console.log(user + system)'
  return Number(await must({ file: process.execPath, args: ['-e', script], directory: ROOT })) / 1_000
}
