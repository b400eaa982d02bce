import { globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../../test/env/debian.ts'
import { writeCompressedTar } from './archive.ts'
import { buildImages } from './images.ts'
import type { Dependency } from './provenance.ts'
import { entriesOf } from './version.ts'

export type BuildOptions = {
  /** A clean checkout of the commit with its packages installed. */
  readonly checkout: string
  /** Where the files are written. */
  readonly folder: string
  /** For what is only needed to build. */
  readonly work: string
  readonly version: string
  readonly commit: string
  /** Seconds since 1970. */
  readonly sourceDateEpoch: number
}

/** A file, with what it is made from besides the source and its packages. */
export type Artifact = { readonly name: string; readonly madeFrom: readonly Dependency[] }

export type Artifacts = {
  readonly files: readonly Artifact[]
  readonly missing: readonly { readonly name: string; readonly reason: string }[]
}

/** Builds the files of a release. `reasonWithoutImages`: why the images are not built; undefined if they are. */
export async function buildArtifacts(
  options: BuildOptions,
  reasonWithoutImages: string | undefined,
): Promise<Artifacts> {
  mkdirSync(options.folder, { recursive: true })
  mkdirSync(options.work, { recursive: true })
  const names = [
    await buildPackage(options),
    await packChart(options, 'charts', 'weir', 'weir-chart'),
    await packChart(options, 'charts/weir/charts', 'weir-crds', 'weir-crds-chart'),
    joinCrds(options),
    await writeBill(options, 'weir'),
    await writeBill(options, 'weir-java', '--java'),
    writeNotes(options),
  ]
  const files = names.map((name): Artifact => ({ name, madeFrom: [] }))
  if (reasonWithoutImages !== undefined) return { files, missing: [{ name: 'images', reason: reasonWithoutImages }] }
  const images = await buildImages(options)
  return { files: [...files, ...images.files], missing: images.missing }
}

/** npm gives all entries one time, and sorts them. */
async function buildPackage({ checkout, folder, version }: BuildOptions): Promise<string> {
  await must({ file: 'node', args: ['scripts/build.mjs'], directory: checkout })
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]
  await must({ file: 'npm', args, directory: checkout })
  // The chart has the same name.
  renameSync(join(folder, `weir-${version}.tgz`), join(folder, `weir-npm-${version}.tgz`))
  return `weir-npm-${version}.tgz`
}

/** `helm package` would store the time of the build. The files are those of the checkout, which need no change. */
async function packChart(options: BuildOptions, parent: string, chart: string, file: string): Promise<string> {
  const name = `${file}-${options.version}.tgz`
  const written = join(options.folder, name)
  await writeCompressedTar(written, join(options.checkout, parent), chart, options.sourceDateEpoch)
  return name
}

function joinCrds({ checkout, folder, version }: BuildOptions): string {
  const files = globSync('crds/*.yaml', { cwd: checkout }).toSorted()
  const texts = files.map((file) => readFileSync(join(checkout, file), 'utf8').trimEnd())
  const name = `weir-crds-${version}.yaml`
  writeFileSync(join(folder, name), `${texts.join('\n---\n')}\n`)
  return name
}

async function writeBill(options: BuildOptions, file: string, ...args: readonly string[]): Promise<string> {
  const { checkout, folder, version, sourceDateEpoch } = options
  const command = { file: 'node', args: ['scripts/sbom.mjs', ...args], directory: checkout }
  const bill = await must({ ...command, env: { SOURCE_DATE_EPOCH: String(sourceDateEpoch) } })
  writeFileSync(join(folder, `${file}-${version}.cdx.json`), bill)
  return `${file}-${version}.cdx.json`
}

function writeNotes({ checkout, folder, version }: BuildOptions): string {
  const entries = entriesOf(readFileSync(join(checkout, 'CHANGELOG.md'), 'utf8'), version)
  if (entries === undefined) throw new Error(`CHANGELOG.md has no heading for ${version}`)
  writeFileSync(join(folder, 'RELEASE_NOTES.md'), entries)
  return 'RELEASE_NOTES.md'
}
