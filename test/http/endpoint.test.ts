import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const SOURCES = join(import.meta.dirname, '../../src')

it('every route is added by the declaration of an endpoint, which names its permission', () => {
  const files = globSync(['http/*.ts', '*/routes/*.ts'], { cwd: SOURCES })
  // The proxy has one route for all methods.
  const others = files.filter((file) => !/(?:^http\/endpoint|runtime-proxy-routes)\.ts$/.test(file))
  const isAdding = (text: string) => /\b(?:app|inner|within)\s*\.(?:route|all|get|post|put|patch|delete)\b/.test(text)
  expect(others.filter((file) => isAdding(readFileSync(join(SOURCES, file), 'utf8')))).toEqual([])
})
