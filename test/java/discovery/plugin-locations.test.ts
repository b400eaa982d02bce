import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findJavaLocations } from '../../../src/java/discovery/plugin-locations.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

describe('the Java locations of plugin.path', () => {
  it('are the children of a directory: jars, directories of jars, directories of classes', () => {
    const root = files('uber.jar', 'old.ZIP', 'debezium/lib/b.jar', 'debezium/a.jar', 'own/org/example/A.class')
    expect(findJavaLocations([root])).toEqual({
      locations: [
        { path: join(root, 'debezium'), jars: [join(root, 'debezium/a.jar'), join(root, 'debezium/lib/b.jar')] },
        { path: join(root, 'old.ZIP'), jars: [join(root, 'old.ZIP')] },
        { path: join(root, 'own'), jars: [] },
        { path: join(root, 'uber.jar'), jars: [join(root, 'uber.jar')] },
      ],
      faults: [],
    })
  })

  it('may be jars themselves, in the order of the path and once each', () => {
    const root = files('b.jar', 'a.jar')
    const [a, b] = [join(root, 'a.jar'), join(root, 'b.jar')]
    expect(findJavaLocations([b, root]).locations.map(({ path }) => path)).toEqual([b, a])
  })

  it('are not npm packages, hidden children, modules, or directories without classes', () => {
    const root = files(
      'package/package.json',
      'package/a.jar',
      'node_modules/x/a.jar',
      '.tmp/a.jar',
      'docs/a.md',
      'a.ts',
    )
    mkdirSync(join(root, 'lost+found'))
    expect(findJavaLocations([root, join(root, 'package'), join(root, 'missing')])).toEqual({
      locations: [],
      faults: [],
    })
  })

  it('follow links, each directory once, and report those that lead to themselves or nowhere', () => {
    const root = files('real/a.jar', 'plugins/own/b.jar')
    const own = join(root, 'plugins/own')
    symlinkSync(join(root, 'real'), join(own, 'linked'))
    symlinkSync(own, join(own, 'circle'))
    symlinkSync('self', join(own, 'self'))
    symlinkSync('gone', join(own, 'dangling'))
    symlinkSync('gone', join(root, 'plugins/dangling'))
    expect(findJavaLocations([join(root, 'plugins')])).toEqual({
      locations: [{ path: own, jars: [join(own, 'b.jar'), join(root, 'real/a.jar')] }],
      faults: [
        { file: join(root, 'plugins/dangling'), reason: 'the link leads nowhere' },
        { file: join(own, 'dangling'), reason: 'the link leads nowhere' },
        { file: join(own, 'self'), reason: 'the link leads to itself' },
      ],
    })
  })

  it('use only the jars where there are class files besides, and say so', () => {
    const root = files('mixed/a.jar', 'mixed/org/A.class')
    expect(findJavaLocations([root])).toEqual({
      locations: [{ path: join(root, 'mixed'), jars: [join(root, 'mixed/a.jar')] }],
      faults: [{ file: join(root, 'mixed'), reason: 'it contains jars and class files: only its jars are used' }],
    })
  })

  it('report a class file that is in no directory of a package, and directories that are too deep', () => {
    const root = files('A.class', `deep/${'d/'.repeat(70)}a.jar`)
    expect(findJavaLocations([root]).faults.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('class files are found in directories of packages'),
      'its directories are nested deeper than 64',
    ])
  })
})

function files(...names: readonly string[]): string {
  const root = temporaryDirectory()
  for (const name of names) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), '')
  }
  return root
}
