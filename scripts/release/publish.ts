import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type ReleasedFile, verifyChecksums } from './released-files.ts'
import { isPrerelease, tagOf } from './version.ts'

const USAGE = `usage: node scripts/release/publish.ts FOLDER [--dry-run]

Publishes the files of a release where the environment variables say, with the logins of npm, helm, buildah and gh:
  RELEASE_NPM     URL of an npm registry
  RELEASE_CHARTS  oci://REGISTRY/PATH of the charts
  RELEASE_IMAGES  REGISTRY/PATH of the image, without a tag
  RELEASE_GITHUB  OWNER/NAME of the repository in which a release is created
`
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false } },
})
if (positionals.length !== 1) {
  console.error(USAGE)
  process.exit(2)
}
const folder = resolve(positionals[0]!)

type Report = { readonly version: string; readonly leftOut: readonly string[]; readonly files: readonly ReleasedFile[] }

try {
  const names = verifyChecksums(folder)
  const report = JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8')) as Report
  const commands = commandsFor(report, names)
  if (commands.length === 0) console.log('nothing to publish: no variable says where')
  for (const command of commands) perform(command)
} catch (error) {
  console.error(`weir: not published: ${(error as Error).message}`)
  process.exitCode = 1
}

/** The commands in their order: the release of the repository, which refers to the others, is the last. */
function commandsFor({ version, files }: Report, names: readonly string[]): readonly (readonly string[])[] {
  const { RELEASE_NPM, RELEASE_CHARTS, RELEASE_IMAGES, RELEASE_GITHUB } = process.env
  const prerelease = isPrerelease(version)
  const npm = [
    'npm',
    'publish',
    `./weir-npm-${version}.tgz`,
    '--access',
    'public',
    '--tag',
    prerelease ? 'next' : 'latest',
  ]
  const charts = ['weir-crds-chart', 'weir-chart'].map((chart) => ['helm', 'push', `${chart}-${version}.tgz`])
  const flags = ['--verify-tag', ...(prerelease ? ['--prerelease'] : []), '--notes-file', 'RELEASE_NOTES.md']
  return [
    ...(RELEASE_IMAGES ? imageCommands(version, files, RELEASE_IMAGES) : []),
    ...(RELEASE_CHARTS ? charts.map((command) => [...command, RELEASE_CHARTS]) : []),
    ...(RELEASE_NPM ? [[...npm, '--registry', RELEASE_NPM]] : []),
    ...(RELEASE_GITHUB
      ? [['gh', 'release', 'create', tagOf(version), '--repo', RELEASE_GITHUB, ...flags, ...names, 'SHA256SUMS']]
      : []),
  ]
}

/** One list of images for each tag, with the image of each architecture. */
function imageCommands(version: string, files: readonly ReleasedFile[], repository: string) {
  const images = files.filter(({ name }) => name.startsWith('weir-image-'))
  const own = images.filter(({ madeFrom }) => madeFrom.some(({ name }) => name !== 'base'))
  if (images.length === 0) throw new Error('the release has no images')
  if (own.length > 0)
    throw new Error(`${own[0]!.name} has a base that the build machine created: build it where its base can be pulled`)
  return ['', '-java'].flatMap((suffix) => {
    const list = `${repository}:${version}${suffix}`
    const prefix = `weir-image-${suffix === '' ? '' : 'java-'}${version}-`
    const added = images.filter(({ name }) => name.startsWith(prefix))
    return [
      ['buildah', 'manifest', 'create', list],
      ...added.map(({ name }) => ['buildah', 'manifest', 'add', list, `oci-archive:${name}`]),
      ['buildah', 'manifest', 'push', '--all', list, `docker://${list}`],
    ]
  })
}

function perform([file = '', ...args]: readonly string[]): void {
  console.log([file, ...args].join(' '))
  if (values['dry-run']) return
  const { status, error } = spawnSync(file, args, { cwd: folder, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${file} ended with ${status ?? error?.message}`)
}
