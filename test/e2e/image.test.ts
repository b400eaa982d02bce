import { statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Container, type ContainerOptions, type Image, imageWay } from '../env/image.ts'
import { describeOn, real } from '../env/real.ts'
import { filesIn, machineOf, unpackImage } from '../support/image-files.ts'
import { until } from '../support/until.ts'

const image = await real('image')
/** The first build on a machine makes what it begins with, and installs twice. */
const BUILD_MS = 1_200_000
const WAIT = { everyMs: 200, timeoutMs: 120_000 }
const BYTES_MAX = 60_000_000
const REGISTRY = ['registry', '--data', '/data', '--set', 'listeners=http://0.0.0.0:8081']

describeOn([image], 'the container image', () => {
  const way = imageWay(image.address)
  let built: Image
  beforeAll(async () => {
    built = await way.build({ version: 'test' })
  }, BUILD_MS)

  describe.each(['amd64', 'arm64'] as const)('for %s', (architecture) => {
    let folder: string
    let files: readonly string[]
    beforeAll(async () => {
      folder = join(await unpackImage(way, await way.build({ version: 'test', architecture }), 'weir'), 'weir')
      files = filesIn(folder)
    }, BUILD_MS)

    it('contains the program and its dependencies, but no source maps, types or development packages', () => {
      expect(files).toEqual(
        expect.arrayContaining(['package.json', 'LICENSE', 'dist/cli/weir.js', 'dist/sdk/index.js']),
      )
      expect(files.filter((name) => /\.(?:map|ts|mts|cts|bare)$/.test(name))).toEqual([])
      expect(files.filter((name) => /^node_modules\/(?:typescript|vitest|@biomejs|node|@types)\//.test(name))).toEqual(
        [],
      )
      expect(new Set(files.map((name) => name.split('/')[0]))).toEqual(
        new Set(['package.json', 'LICENSE', 'dist', 'node_modules']),
      )
    })

    it('contains the licenses of its dependencies', () => {
      const packages = files.filter((name) => /^node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(name))
      const licences = files.filter((name) => /\/(?:un)?licen[cs]e[^/]*$/i.test(name))
      expect(licences.length).toBeGreaterThan(packages.length * 0.8)
    })

    it(`is at most ${BYTES_MAX / 1e6} MB larger than what it begins with`, () => {
      const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
      expect(bytes).toBeGreaterThan(10_000_000)
      expect(bytes).toBeLessThan(BYTES_MAX)
    })

    it('contains native code for this architecture only', () => {
      const native = files.filter((name) => name.endsWith('.node'))
      expect(native.length).toBeGreaterThanOrEqual(3)
      expect(native.filter((name) => machineOf(join(folder, name)) !== architecture)).toEqual([])
    })
  })

  it('has labels with title, license and version, and a numeric user', () => {
    expect(built.config.user).toBe('65532:65532')
    expect(built.config.labels).toMatchObject({
      'org.opencontainers.image.title': 'Weir',
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.version': 'test',
    })
  })

  it('passes its health check with a read-only root file system and without a shell', async () => {
    const container = await start({ args: REGISTRY, writable: ['/data'], hidden: ['/usr/bin', '/usr/sbin'] })
    await until('the registry to be healthy', WAIT, async () => (await check(container)).code === 0)
    expect(await container.exec(['/bin/sh', '-c', 'true'])).not.toMatchObject({ code: 0 })
    const evaluate = (script: string) => container.exec(['node', '--input-type=module', '-e', script])
    expect(
      await evaluate(`
        const headers = { 'content-type': 'application/json' }
        const body = JSON.stringify({ schema: '"int"' })
        const answer = await fetch('http://127.0.0.1:8081/subjects/s/versions', { method: 'POST', headers, body })
        console.log(process.getuid(), answer.status, (await answer.json()).id)`),
    ).toMatchObject({ code: 0, stdout: '65532 200 1\n' })
    expect(await evaluate(`(await import('node:fs')).writeFileSync('/weir/x', '')`)).toMatchObject({
      stderr: expect.stringContaining('EROFS'),
    })
    const output = await container.output()
    expect(output).toContain('"msg":"listening"')
    expect(output).not.toMatch(/EROFS|warning/i)
    expect(await container.stop()).toBe(0)
  })

  it('fails its health check when no program responds', async () => {
    const container = await start({ args: REGISTRY, writable: ['/data'], hidden: [] })
    expect(await container.exec([...built.config.healthcheck, 'http://127.0.0.1:9'])).toMatchObject({ code: 1 })
  })

  it('writes the compile cache for the next start to a writable directory', async () => {
    const container = await start({ args: REGISTRY, writable: ['/data', '/tmp'], hidden: [] })
    await until('the registry to be healthy', WAIT, async () => (await check(container)).code === 0)
    const listed = await container.exec(['node', '-p', `fs.readdirSync('/tmp/node-compile-cache').length`])
    expect(Number(listed.stdout)).toBeGreaterThan(0)
  })

  it('loads its native codecs', async () => {
    const container = await start({ args: REGISTRY, writable: ['/data'], hidden: [] })
    const script = `for (const name of ['snappy', 'lz4-napi', '@node-rs/crc32']) require(name)`
    expect(await container.exec(['node', '-e', script])).toMatchObject({ code: 0, stderr: '' })
  })

  async function start(options: ContainerOptions): Promise<Container> {
    const container = await way.start(built, options)
    let stopped: Promise<number | null> | undefined
    const stop = () => {
      stopped ??= container.stop()
      return stopped
    }
    onTestFinished(async () => void (await stop()))
    return { ...container, stop }
  }

  function check(container: Container) {
    return container.exec(built.config.healthcheck)
  }
})
