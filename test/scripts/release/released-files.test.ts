import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeCompressedTar } from '../../../scripts/release/archive.ts'
import { compareFiles, sha256Of, verifyChecksums, writeChecksums } from '../../../scripts/release/released-files.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

describe('the comparison of two builds', () => {
  it('reports an image that differs, and refuses any other file that does', () => {
    const [first, second] = builds({
      'weir-image-1.0.0.tar': ['a', 'b'],
      'weir-npm-1.0.0.tgz': ['c', 'c'],
      crds: ['d', 'e'],
    })
    const artifacts = ['weir-image-1.0.0.tar', 'weir-npm-1.0.0.tgz'].map((name) => ({ name, madeFrom: [] }))
    expect(compareFiles(artifacts, first, second).map(({ isReproducible }) => isReproducible)).toEqual([false, true])
    const wrong = [...artifacts, { name: 'crds', madeFrom: [] }]
    expect(() => compareFiles(wrong, first, second)).toThrow('two builds differ in crds')
  })

  function builds(files: Readonly<Record<string, readonly [string, string]>>): readonly [string, string] {
    const [first, second] = [temporaryDirectory(), temporaryDirectory()]
    for (const [name, [one, other]] of Object.entries(files)) {
      writeFileSync(join(first, name), one)
      writeFileSync(join(second, name), other)
    }
    return [first, second]
  }
})

describe('the checksums of a folder', () => {
  it('list each file, and are verified', () => {
    const folder = checkedFolder()
    expect(verifyChecksums(folder)).toEqual(['a', 'b'])
  })

  it.each<[string, (folder: string) => void]>([
    ['is changed', (folder) => writeFileSync(join(folder, 'a'), 'other')],
    ['is missing', (folder) => rmSync(join(folder, 'a'))],
    ['is added', (folder) => writeFileSync(join(folder, 'c'), 'new')],
  ])('are refused if a file %s', (_, damage) => {
    const folder = checkedFolder()
    damage(folder)
    expect(() => verifyChecksums(folder)).toThrow()
  })

  function checkedFolder(): string {
    const folder = temporaryDirectory()
    for (const name of ['b', 'a']) writeFileSync(join(folder, name), name)
    writeChecksums(folder)
    return folder
  }
})

describe('an archive', { tags: ['slow'] }, () => {
  it('depends on the names, contents and the given time only', async () => {
    const archives = await Promise.all(
      [
        ['one', 'two'],
        ['two', 'one'],
      ].map(archive),
    )
    expect(new Set(archives).size).toBe(1)
    expect(archives).not.toContain(await archive(['one', 'three']))
  })

  async function archive(names: readonly string[]): Promise<string> {
    const directory = temporaryDirectory()
    mkdirSync(join(directory, 'chart'))
    for (const name of names) writeFileSync(join(directory, 'chart', name), name)
    const file = join(directory, 'chart.tgz')
    await writeCompressedTar(file, directory, 'chart', 1_790_000_000)
    return sha256Of(file)
  }
})
