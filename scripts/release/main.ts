import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { must } from '../../test/env/debian.ts'
import { partDirectory } from '../../test/env/workspace.ts'
import { type Artifacts, buildArtifacts } from './artifacts.ts'
import { buildahVersion, findBuildah } from './images.ts'
import { type Build, provenanceOf } from './provenance.ts'
import { compareFiles, type ReleasedFile, sha256Of, writeChecksums } from './released-files.ts'
import { cloneCommit, commitVersion, finishRelease, inspectCheckout, readRelease } from './source.ts'
import { parseVersion, tagOf } from './version.ts'

const USAGE = `usage: npm run release -- VERSION [OPTION…]

Checks a clean checkout, sets VERSION in a new commit, builds all files of the release twice and compares them, writes them
into a folder, and tags the commit. At the tag of VERSION, builds the files again. Publishes nothing.

  --dry-run             add no commit and no tag; write files only with --output
  --without-long-tests  run the checks and the fast tests only
  --without-images      build no images
  --output DIR          the folder of the files (default: release); a folder of an earlier release is replaced
`
const ROOT = join(import.meta.dirname, '../..')

type Options = {
  readonly version: string
  readonly isDryRun: boolean
  readonly hasLongTests: boolean
  readonly hasImages: boolean
  /** Undefined: no folder is written. */
  readonly output: string | undefined
}

const options = readOptions()
/** It is removed when this process ends, however that happens. */
const directory = partDirectory('release')
try {
  await release(options)
} catch (error) {
  console.error(`weir: no release: ${(error as Error).message}`)
  process.exitCode = 1
}

async function release({ version, isDryRun, hasLongTests, hasImages, output }: Options): Promise<void> {
  const start = await inspectCheckout(ROOT, version)
  if (output !== undefined) checkReplaceable(output)
  const [first, second] = ['first', 'second'].map((name) => join(directory, name)) as [string, string]
  await cloneCommit(ROOT, start.head, first)
  const { commit, sourceDateEpoch } = start.isTagged
    ? await readRelease(first)
    : await commitVersion(ROOT, first, version, new Date().toISOString().slice(0, 10))
  progress(`${version} is commit ${commit}`)
  const checks = runChecks(first, hasLongTests)

  const reason = hasImages ? (await findBuildah()).missing : '--without-images'
  await cloneCommit(first, commit, second)
  const build = (checkout: string): Promise<Artifacts> => {
    const [folder, work] = [`${checkout}-files`, `${checkout}-work`]
    return buildArtifacts({ checkout, folder, work, version, commit, sourceDateEpoch }, reason)
  }
  progress('building all files, the first time')
  const { files: artifacts, missing } = await build(first)
  progress('building all files, the second time')
  await build(second)
  const files = compareFiles(artifacts, `${first}-files`, `${second}-files`)

  const folder = `${first}-files`
  const source = { version, commit, sourceDateEpoch, source: start.source }
  writeStatements(folder, files, { ...source, ...(await buildDetails(first, reason === undefined)) })
  const report = { version, commit, sourceDateEpoch, ...checks, files, missing }
  writeFileSync(join(folder, 'release.json'), `${JSON.stringify(report, null, 2)}\n`)
  writeChecksums(folder)
  if (output !== undefined) {
    rmSync(output, { recursive: true, force: true })
    mkdirSync(output, { recursive: true })
    cpSync(folder, output, { recursive: true })
  }
  if (!isDryRun && !start.isTagged) await finishRelease(ROOT, first, version)
  console.log(summaryOf(report, options, start.isTagged))
}

function runChecks(checkout: string, hasLongTests: boolean) {
  const all = [
    { command: ['.ci/run'], isLong: true },
    { command: ['npm', 'run', 'check'], isLong: false },
    { command: ['npm', 'run', 'test:fast'], isLong: false },
    { command: ['npm', 'run', 'release:check'] },
  ]
  const checked = all
    .filter(({ isLong }) => isLong === undefined || isLong === hasLongTests)
    .map(({ command }) => command)
  for (const [file = '', ...args] of checked) {
    progress([file, ...args].join(' '))
    // Standard output is for the summary.
    const env = { ...process.env, CI: 'true' }
    const { status, error } = spawnSync(file, args, { cwd: checkout, env, stdio: ['ignore', 2, 2] })
    if (status !== 0)
      throw new Error(`${[file, ...args].join(' ')} failed${error === undefined ? '' : `: ${error.message}`}`)
  }
  return { checked: checked.map((command) => command.join(' ')), leftOut: hasLongTests ? [] : ['.ci/run'] }
}

async function buildDetails(checkout: string, hasBuildah: boolean): Promise<Pick<Build, 'tools' | 'builder' | 'lock'>> {
  const npm = (await must({ file: 'npm', args: ['--version'], directory: checkout })).trim()
  return {
    tools: { node: process.versions.node, npm, ...(hasBuildah && { buildah: await buildahVersion() }) },
    builder: process.env['RELEASE_BUILDER'] ?? 'urn:weir:builder:local',
    lock: { name: 'package-lock.json', digest: { sha256: sha256Of(join(checkout, 'package-lock.json')) } },
  }
}

/** One statement in each line. */
function writeStatements(folder: string, files: readonly ReleasedFile[], build: Build): void {
  const lines = files.map((file) => JSON.stringify(provenanceOf(file, build)))
  writeFileSync(join(folder, `weir-${build.version}.provenance.jsonl`), `${lines.join('\n')}\n`)
}

type Report = {
  readonly version: string
  readonly commit: string
  readonly checked: readonly string[]
  readonly leftOut: readonly string[]
  readonly files: readonly ReleasedFile[]
  readonly missing: Artifacts['missing']
}

function summaryOf(report: Report, { isDryRun, output }: Options, isTagged: boolean): string {
  const { version, commit, checked, leftOut, files, missing } = report
  const width = Math.max(...files.map(({ name }) => name.length))
  const rows = files.map(({ name, bytes, sha256, isReproducible }) => {
    const size = `${(bytes / 1e6).toFixed(1)} MB`.padStart(9)
    return `  ${name.padEnd(width)} ${size}  ${sha256.slice(0, 16)}…  ${isReproducible ? 'equal in both builds' : 'DIFFERS between the builds'}`
  })
  const result = isTagged
    ? `the tag ${tagOf(version)} was built again`
    : isDryRun
      ? 'dry run: neither commit nor tag was added'
      : `tagged as ${tagOf(version)}; next: git push --atomic origin HEAD ${tagOf(version)}`
  return [
    `release ${version}, commit ${commit}`,
    `checked: ${checked.join(', ')}`,
    ...leftOut.map((command) => `LEFT OUT: the long tests, ${command}`),
    ...rows,
    ...missing.map(({ name, reason }) => `  MISSING: ${name}: ${reason}`),
    output === undefined ? 'no files were written (--output DIR writes them)' : `written to ${output}`,
    result,
  ].join('\n')
}

/** Refuses to replace a directory that is not one of an earlier release. */
function checkReplaceable(output: string): void {
  if (existsSync(output) && !existsSync(join(output, 'release.json')))
    throw new Error(`${output} exists and is not the folder of a release: remove it, or choose another --output`)
}

function progress(text: string): void {
  process.stderr.write(`weir: ${text}\n`)
}

function readOptions(): Options {
  const { values, positionals } = parse()
  const [version, ...more] = positionals
  if (values.help || version === undefined || more.length > 0) {
    console.error(USAGE)
    process.exit(values.help ? 0 : 2)
  }
  const isDryRun = values['dry-run']
  const output = values.output ?? (isDryRun ? undefined : 'release')
  return {
    version: orExit(() => parseVersion(version)),
    isDryRun,
    hasLongTests: !values['without-long-tests'],
    hasImages: !values['without-images'],
    output: output === undefined ? undefined : resolve(output),
  }
}

function parse() {
  const flag = { type: 'boolean', default: false } as const
  const flags = { 'dry-run': flag, 'without-long-tests': flag, 'without-images': flag, help: flag }
  return orExit(() => parseArgs({ allowPositionals: true, options: { ...flags, output: { type: 'string' } } }))
}

function orExit<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    console.error(`weir: ${(error as Error).message}\n\n${USAGE}`)
    process.exit(2)
  }
}
