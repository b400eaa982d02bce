import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { checkExportTarget, readArchive, writeArchive } from '../../../src/cli/archive/archive-files.ts'
import type { RegistryArchive } from '../../../src/cli/archive/registry-archive.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'

const archiveOf = (...subjects: readonly string[]): RegistryArchive =>
  ({
    contexts: [{ context: '.' }],
    subjects: subjects.map((subject) => ({ subject, versions: [{ version: 1, id: 1, schema: '"string"' }] })),
  }) as RegistryArchive

const [OLD, NEW, LATER] = [archiveOf('a', 'b'), archiveOf('b', 'c', 'd'), archiveOf('e')]

/** What is in the directory when the replacement of an export is interrupted, and what is still complete. */
const MOMENTS: readonly (readonly [string, (directory: string, files: Files) => void, RegistryArchive])[] = [
  [
    'while it writes the subjects',
    (directory) => {
      mkdirSync(join(directory, 'subjects.part'))
      writeFileSync(join(directory, 'subjects.part', 'b.json'), '{"subject":"b",')
    },
    OLD,
  ],
  [
    'when it has written the new export',
    (_, { subjects, head }) => {
      for (const add of [subjects, head]) add('.part')
    },
    OLD,
  ],
  [
    'when it has deleted the mark of the earlier one',
    (directory, { subjects, head }) => {
      for (const add of [subjects, head]) add('.part')
      rmSync(join(directory, 'registry.json'))
    },
    NEW,
  ],
  [
    'when it has deleted the earlier subjects',
    (directory, { subjects, head }) => {
      for (const add of [subjects, head]) add('.part')
      for (const name of ['registry.json', 'subjects']) rmSync(join(directory, name), { recursive: true })
    },
    NEW,
  ],
  [
    'when it has renamed the subjects',
    (directory, { subjects, head }) => {
      for (const name of ['registry.json', 'subjects']) rmSync(join(directory, name), { recursive: true })
      subjects('')
      head('.part')
    },
    NEW,
  ],
]

type Files = Record<'subjects' | 'head', (suffix: '' | '.part') => void>

let directory = ''
let files: Files

beforeEach(() => {
  const root = memoryDirectory()
  directory = join(root, 'export')
  const other = join(root, 'new')
  writeArchive({ kind: 'directory', path: directory }, OLD)
  writeArchive({ kind: 'directory', path: other }, NEW)
  const copy = (name: string) => (suffix: string) =>
    cpSync(join(other, name), join(directory, `${name}${suffix}`), { recursive: true })
  files = { subjects: copy('subjects'), head: copy('registry.json') }
})

describe.each(MOMENTS)('an export that is interrupted %s', (_, interrupt, complete) => {
  it('leaves a complete one, and the next export replaces it', () => {
    interrupt(directory, files)
    expect(readArchive(directory)).toEqual(complete)
    const location = { kind: 'directory', path: directory } as const
    checkExportTarget(location)
    const unwritable = { ...LATER, subjects: [{ subject: 'x', versions: [{ id: 1n }] }] } as unknown as RegistryArchive
    expect(() => writeArchive(location, unwritable)).toThrow('BigInt')
    expect(readArchive(directory)).toEqual(complete)
    writeArchive(location, LATER)
    expect(readArchive(directory)).toEqual(LATER)
    expect(readdirSync(directory).toSorted()).toEqual(['registry.json', 'subjects'])
  })
})

it('A first export that is interrupted is not complete', () => {
  const path = join(directory, 'first')
  mkdirSync(path)
  cpSync(join(directory, 'subjects'), join(path, 'subjects.part'), { recursive: true })
  expect(() => readArchive(path)).toThrow('registry.json is missing')
  writeFileSync(join(path, 'registry.json.part'), '{"format":')
  expect(() => readArchive(path)).toThrow('cannot be imported')
  writeArchive({ kind: 'directory', path }, NEW)
  expect(readArchive(path)).toEqual(NEW)
  expect(existsSync(join(path, 'subjects.part'))).toBe(false)
})
