import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { API_VERSION, DEPRECATED_API_VERSIONS, deprecationWarning } from '../../src/common/resource-api.ts'

const ROOT = join(import.meta.dirname, '../..')
const SPELLED = /(?<![\w.])weir\.dev\/v\d\w*/g

/** The API versions that files spell, with the file. */
function spelledIn(patterns: readonly string[], others: RegExp): readonly string[] {
  return globSync([...patterns], { cwd: ROOT })
    .filter((file) => !others.test(file))
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(SPELLED)].map(([found]) => `${found} ${file}`),
    )
}

describe('the API version of the resources', () => {
  it('is spelled in one file of the program and in no test, so that another one is a change of one line', () => {
    const texts = spelledIn(['src/**/*.ts', 'test/**/*.ts'], /^src\/common\/resource-api\.ts$/)
    // A version that never existed, texts about a deprecated one, and a prefix of all versions.
    expect(
      texts.filter((found) => !/^weir\.dev\/v9 |(?:rewrite-manifests|annotations)\.test\.ts$/.test(found)),
    ).toEqual([])
  })

  it('is the current one in all pages, examples and charts that do not tell about older ones', () => {
    const patterns = ['*.md', 'docs/**/*.md', 'examples/**/*.{yaml,md}', 'charts/**/*.{yaml,tpl,mjs,md}']
    const texts = spelledIn(
      patterns,
      /^docs\/(?:adr\/|upgrade\.md)|\/weir-crds\/templates\/|^examples\/quickstart\/out\//,
    )
    expect(texts.length).toBeGreaterThan(30)
    expect(texts.filter((found) => !found.startsWith(`${API_VERSION} `))).toEqual([])
  })

  it.each(DEPRECATED_API_VERSIONS)('has a warning about %s that the API server accepts', (version) => {
    // It refuses definitions whose warnings are longer, or contain characters that are not printable.
    expect(deprecationWarning(version)).toMatch(/^[ -~]{1,256}$/)
  })
})
