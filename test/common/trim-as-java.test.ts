import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { trimAsJava } from '../../src/common/trim-as-java.ts'

it.each([
  ['', ''],
  [' \t\n\u0000a b\u001f ', 'a b'],
  ['\u00a0a\u2003', '\u00a0a\u2003'],
  ['\ufeff', '\ufeff'],
  [' ', ''],
])('trims %j as Java does', (text, trimmed) => {
  expect(trimAsJava(text)).toBe(trimmed)
})

it('trims the values of configurations', () => {
  const root = join(import.meta.dirname, '../..')
  // Text for people, decimals, and hosts, which are compared in their normal form.
  const others = /reference-page|sdk\/values|host-access\//
  const files = globSync(['src/{worker,sdk}/**/*.ts', 'src/config/settings.ts'], { cwd: root })
  const wrong = files.filter((file) => !others.test(file) && readFileSync(join(root, file), 'utf8').includes('.trim()'))
  expect(wrong).toEqual([])
})
