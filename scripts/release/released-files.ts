import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Artifact } from './artifacts.ts'
import type { Subject } from './provenance.ts'

/** A file of the release, and whether a second build has made the same bytes. */
export type ReleasedFile = Subject & { readonly bytes: number; readonly isReproducible: boolean }

/** Their layers contain packages of Debian, whose repository may have changed between two builds. */
const MAY_DIFFER = /^weir-image-/

/** Compares two builds. Throws if a file differs that must not. */
export function compareFiles(artifacts: readonly Artifact[], first: string, second: string): readonly ReleasedFile[] {
  const files = artifacts.map(({ name, madeFrom }): ReleasedFile => {
    const sha256 = sha256Of(join(first, name))
    const isReproducible = sha256 === sha256Of(join(second, name))
    return { name, bytes: statSync(join(first, name)).size, sha256, isReproducible, madeFrom }
  })
  const wrong = files.filter(({ name, isReproducible }) => !isReproducible && !MAY_DIFFER.test(name))
  if (wrong.length > 0) throw new Error(`two builds differ in ${wrong.map(({ name }) => name).join(', ')}`)
  return files
}

const CHECKSUMS = 'SHA256SUMS'

/** Writes the checksums of all files in the folder, in the format of `sha256sum`. */
export function writeChecksums(folder: string): void {
  const names = readdirSync(folder).toSorted()
  const lines = names.map((name) => `${sha256Of(join(folder, name))}  ${name}\n`)
  writeFileSync(join(folder, CHECKSUMS), lines.join(''))
}

/** Throws unless the folder contains exactly the files of its checksums. Returns their names. */
export function verifyChecksums(folder: string): readonly string[] {
  const listed = readFileSync(join(folder, CHECKSUMS), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('  '))
  const names = listed.map(([, name = '']) => name)
  const others = readdirSync(folder).filter((name) => name !== CHECKSUMS && !names.includes(name))
  if (others.length > 0) throw new Error(`${CHECKSUMS} does not list ${others.join(', ')}`)
  for (const [sha256, name = ''] of listed)
    if (sha256Of(join(folder, name)) !== sha256) throw new Error(`${name} is not the file of ${CHECKSUMS}`)
  return names
}

export function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
