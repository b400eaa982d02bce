import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createDirectories } from '../../src/common/create-directories.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

it('creates what is missing, the outermost first, and nothing again', () => {
  const root = temporaryDirectory()
  const created: string[] = []
  for (const _ of [1, 2]) createDirectories(join(root, 'a/b'), { mode: 0o700, onCreated: (one) => created.push(one) })
  expect(created).toEqual([join(root, 'a'), join(root, 'a/b')])
  expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700)
})

it('throws where nothing can be created, also on /proc, where mkdir with recursive never returned', () => {
  expect(() => createDirectories('/proc/weir/data')).toThrow(/ENOENT/)
})

it('is used by all of src, instead of mkdir with recursive', () => {
  const source = join(import.meta.dirname, '../../src')
  const wrong = globSync('**/*.ts', { cwd: source }).filter((file) =>
    /\bmkdir(?:Sync)?\([^\n]*recursive/.test(readFileSync(join(source, file), 'utf8')),
  )
  expect(wrong).toEqual([])
})
