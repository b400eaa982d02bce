import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CODE_DIRECTORY, entryPoint, PACKAGE_DIRECTORY } from '../../src/common/program-files.ts'

const sources = globSync('**/*.ts', { cwd: CODE_DIRECTORY }).map((file) => ({
  file,
  text: readFileSync(join(CODE_DIRECTORY, file), 'utf8'),
}))

it('the package directory contains the manifest and the code', () => {
  expect(existsSync(join(PACKAGE_DIRECTORY, 'package.json'))).toBe(true)
  expect(existsSync(join(CODE_DIRECTORY, 'cli/weir.ts'))).toBe(true)
})

it('every entry point that the code starts exists', () => {
  const paths = sources.flatMap(({ text }) => [...text.matchAll(/entryPoint\('([^']+)'\)/g)].map(([, path]) => path!))
  expect(paths.length).toBeGreaterThan(4)
  expect(paths.filter((path) => !existsSync(entryPoint(path)))).toEqual([])
})

it('no other module derives a path from its own, because the build joins modules into other files', () => {
  // A library is found from every directory of the package.
  const placed = sources.filter(({ text }) =>
    text.replaceAll(/createRequire\(import\.meta\.url\)|import\.meta\.resolve\(name\)/g, '').includes('import.meta'),
  )
  expect(placed.map(({ file }) => file)).toEqual(['common/program-files.ts'])
})
