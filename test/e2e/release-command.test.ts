import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { must } from '../env/debian.ts'
import { run } from '../env/process.ts'
import { describeOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { helmAt } from '../support/helm.ts'

const ROOT = join(import.meta.dirname, '../..')
const helm = await real('helm')
/** Several builds of all files. */
const RELEASE_MS = 900_000
const VERSION = '0.98.7'
const TAG = `v${VERSION}`
const QUICK = ['--without-long-tests', '--without-images']

describe('npm run release', () => {
  it('with --dry-run builds everything and changes nothing', { timeout: RELEASE_MS }, async () => {
    const checkout = await clone()
    const before = await checkout.state()
    const { code, stdout, stderr } = await checkout.release(VERSION, '--dry-run', ...QUICK)
    expect([code, stderr]).toEqual([0, expect.stringContaining('building all files, the second time')])
    expect(await checkout.state()).toEqual(before)
    expect(existsSync(join(checkout.directory, 'release'))).toBe(false)
    expect(stdout).toContain('LEFT OUT: the long tests, .ci/run\n')
    expect(stdout).toContain('MISSING: images: --without-images\n')
    expect(stdout).toContain('dry run: neither commit nor tag was added')
    expect(stdout.match(/equal in both builds/g)).toHaveLength(7)
    expect(checkout.checks()).toEqual(['run check', 'run test:fast', 'run release:check'])
  })

  it('refuses a checkout that is not clean', async () => {
    const checkout = await clone()
    writeFileSync(join(checkout.directory, 'new.txt'), '')
    expect(await checkout.refusal(VERSION)).toContain('the checkout is not clean; commit or remove:\n?? new.txt')
  })

  it('refuses a tag that names another commit', async () => {
    const checkout = await clone()
    await checkout.git('tag', TAG, 'HEAD~1')
    expect(await checkout.refusal(VERSION)).toContain(`the tag ${TAG} exists and names`)
  })

  it('refuses to replace a directory that is not of a release', async () => {
    const checkout = await clone()
    expect(await checkout.refusal(VERSION, '--output', 'docs')).toContain('is not the folder of a release')
  })

  it.each([['0.1'], [], ['0.2.0', '0.3.0'], ['0.2.0', '--without-tests']])(
    'prints its usage for %j',
    async (...args) => {
      const checkout = await clone()
      expect(await checkout.release(...args.filter(Boolean))).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('usage: npm run release -- VERSION'),
      })
    },
  )

  it('leaves neither commit nor tag nor folder when a check fails', async () => {
    const checkout = await clone()
    const before = await checkout.state()
    checkout.failAt('run test:fast')
    expect(await checkout.refusal(VERSION, ...QUICK)).toContain('npm run test:fast failed')
    expect(await checkout.state()).toEqual(before)
    expect(existsSync(join(checkout.directory, 'release'))).toBe(false)
  })
})

describeOn([helm], 'a release', () => {
  let checkout: Awaited<ReturnType<typeof clone>>
  let folder: string
  let head: string
  beforeAll(async () => {
    checkout = await clone()
    head = (await checkout.git('rev-parse', 'HEAD')).trim()
    expect(await checkout.release(VERSION, ...QUICK)).toMatchObject({ code: 0 })
    folder = join(checkout.directory, 'release')
  }, RELEASE_MS)

  it('is one commit with the version, and its tag', async () => {
    expect(await checkout.git('log', '-1', '--format=%s %P', `${TAG}^{commit}`)).toBe(`Release ${VERSION} ${head}\n`)
    expect(await checkout.git('rev-parse', 'HEAD')).toBe(await checkout.git('rev-parse', `${TAG}^{commit}`))
    expect(await checkout.git('cat-file', '-t', TAG)).toBe('tag\n')
    expect(await checkout.git('status', '--porcelain')).toBe('')
    const changed = (await checkout.git('diff', '--name-only', head, 'HEAD')).trim().split('\n')
    expect(changed).toEqual([
      'CHANGELOG.md',
      'Dockerfile',
      'charts/weir/Chart.yaml',
      'charts/weir/charts/weir-crds/Chart.yaml',
      'docs/java-plugins.md',
      'examples/flux/weir.yaml',
      'examples/plugin/package.json',
      'package-lock.json',
      'package.json',
      'src/plugins/shipped-version.ts',
    ])
  })

  it('consists of files with checksums, which `sha256sum` verifies', async () => {
    expect(readdirSync(folder).toSorted()).toEqual([
      'RELEASE_NOTES.md',
      'SHA256SUMS',
      'release.json',
      `weir-${VERSION}.cdx.json`,
      `weir-${VERSION}.provenance.jsonl`,
      `weir-chart-${VERSION}.tgz`,
      `weir-crds-${VERSION}.yaml`,
      `weir-crds-chart-${VERSION}.tgz`,
      `weir-java-${VERSION}.cdx.json`,
      `weir-npm-${VERSION}.tgz`,
    ])
    await must({ file: 'sha256sum', args: ['--check', '--strict', 'SHA256SUMS'], directory: folder })
  })

  it('has a provenance statement for each file, about its commit', async () => {
    const lines = readFileSync(join(folder, `weir-${VERSION}.provenance.jsonl`), 'utf8')
      .trim()
      .split('\n')
    const statements = lines.map((line) => JSON.parse(line))
    const { files } = JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8'))
    expect(statements.map(({ subject: [{ name, digest }] }) => [name, digest.sha256])).toEqual(
      files.map(({ name, sha256 }: { readonly name: string; readonly sha256: string }) => [name, sha256]),
    )
    const commit = (await checkout.git('rev-parse', 'HEAD')).trim()
    for (const { predicate } of statements)
      expect(predicate.buildDefinition.resolvedDependencies[0].digest).toEqual({ gitCommit: commit })
  })

  it('has a chart that renders as the one of the checkout', async () => {
    const { call } = helmAt(helm.address.file)
    const args = ['--namespace', 'weir', '--set', 'kafka.bootstrapServers=kafka:9092']
    const [packed, source] = await Promise.all(
      [join(folder, `weir-chart-${VERSION}.tgz`), join(checkout.directory, 'charts/weir')].map((chart) =>
        call(['template', 'weir', chart, ...args]),
      ),
    )
    expect(packed).toMatchObject({ code: 0, stdout: expect.stringContaining(`weir:${VERSION}`) })
    expect(packed!.stdout).toBe(source!.stdout)
  })

  it('is equal when its tag is built again', { timeout: RELEASE_MS }, async () => {
    const { code, stdout } = await checkout.release(TAG, ...QUICK, '--output', 'again')
    expect([code, stdout]).toEqual([0, expect.stringContaining(`the tag ${TAG} was built again`)])
    const again = readFileSync(join(checkout.directory, 'again/SHA256SUMS'), 'utf8')
    expect(again).toBe(readFileSync(join(folder, 'SHA256SUMS'), 'utf8'))
    expect(await checkout.git('rev-parse', 'HEAD')).toBe(await checkout.git('rev-parse', `${TAG}^{commit}`))
  })

  it('is published by the commands of the named targets, if its files are those of the checksums', async () => {
    const copy = join(partDirectory('published'), 'release')
    cpSync(folder, copy, { recursive: true })
    const publish = (env: Readonly<Record<string, string>>) =>
      run({ file: process.execPath, args: ['scripts/release/publish.ts', copy, '--dry-run'], directory: ROOT, env })
    const nowhere = { RELEASE_NPM: '', RELEASE_CHARTS: '', RELEASE_IMAGES: '', RELEASE_GITHUB: '' }
    expect(await publish(nowhere)).toMatchObject({ code: 0, stdout: 'nothing to publish: no variable says where\n' })
    const targets = {
      RELEASE_NPM: 'https://npm.example',
      RELEASE_CHARTS: 'oci://charts.example/weir',
      RELEASE_GITHUB: 'weir/weir',
    }
    const { stdout } = await publish({ ...nowhere, ...targets })
    expect(stdout.trim().split('\n')).toEqual([
      `helm push weir-crds-chart-${VERSION}.tgz oci://charts.example/weir`,
      `helm push weir-chart-${VERSION}.tgz oci://charts.example/weir`,
      `npm publish ./weir-npm-${VERSION}.tgz --access public --tag latest --registry https://npm.example`,
      expect.stringContaining(`gh release create ${TAG} --repo weir/weir --verify-tag --notes-file RELEASE_NOTES.md `),
    ])
    expect(await publish({ ...nowhere, RELEASE_IMAGES: 'images.example/weir' })).toMatchObject({
      code: 1,
      stderr: 'weir: not published: the release has no images\n',
    })
    writeFileSync(join(copy, `weir-npm-${VERSION}.tgz`), 'other')
    expect(await publish({ ...nowhere, ...targets })).toMatchObject({ code: 1, stdout: '' })
  })
})

/** A clone of the checkout, with the scripts as they are now. Its npm only records the scripts that it is to run. */
async function clone() {
  const base = partDirectory('release')
  const [directory, bin] = [join(base, 'checkout'), join(base, 'bin')]
  await must({ file: 'git', args: ['clone', '--quiet', ROOT, directory], directory: base })
  const git = (...args: readonly string[]) => must({ file: 'git', args, directory })
  rmSync(join(directory, 'scripts'), { recursive: true })
  cpSync(join(ROOT, 'scripts'), join(directory, 'scripts'), { recursive: true })
  await git('config', 'user.name', 'Maintainer')
  await git('config', 'user.email', 'maintainer@weir.example')
  await git('add', '--all')
  await git('commit', '--quiet', '--allow-empty', '--message', 'The scripts as they are now')
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, '.git/info/exclude'), '/node_modules\n/again\n')
  mkdirSync(bin)
  const npm = (await must({ file: 'sh', args: ['-c', 'command -v npm'], directory })).trim()
  writeFileSync(
    join(bin, 'npm'),
    `#!/bin/sh
if [ "$1" != run ]; then exec "${npm}" "$@"; fi
echo "$@" >> "${base}/checks"
[ "$*" != "$(cat "${base}/failing" 2>/dev/null)" ]
`,
  )
  chmodSync(join(bin, 'npm'), 0o755)
  const release = (...args: readonly string[]) =>
    run({
      file: process.execPath,
      args: ['scripts/release/main.ts', ...args],
      directory,
      env: { PATH: `${bin}:${process.env['PATH']}` },
    })
  return {
    directory,
    git,
    release,
    checks: () => readFileSync(join(base, 'checks'), 'utf8').trim().split('\n'),
    failAt: (script: string) => writeFileSync(join(base, 'failing'), script),
    state: async () => [await git('rev-parse', 'HEAD'), await git('tag', '--list'), await git('status', '--porcelain')],
    async refusal(...args: readonly string[]) {
      const { code, stderr } = await release(...args)
      expect(code).toBe(1)
      return stderr
    },
  }
}
