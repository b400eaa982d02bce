import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  entriesOf,
  isPrerelease,
  parseVersion,
  releaseEntries,
  VERSION_PLACES,
  versionsIn,
} from '../../../scripts/release/version.ts'

const ROOT = join(import.meta.dirname, '../../..')
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const { version: current } = JSON.parse(textOf('package.json'))

describe('the places of the version', () => {
  it.each(Object.entries(VERSION_PLACES))('state the version of package.json only: %s', (file, place) => {
    expect([...new Set(versionsIn(textOf(file), place))]).toEqual([current])
  })

  it('are several in some files', () => {
    const counts = Object.entries(VERSION_PLACES).map(([file, place]) => [file, versionsIn(textOf(file), place).length])
    expect(Object.fromEntries(counts)).toMatchObject({
      'package-lock.json': 2,
      'charts/weir/Chart.yaml': 3,
      'charts/weir/charts/weir-crds/Chart.yaml': 2,
    })
  })
})

describe('a version', () => {
  it.each(['0.2.0', '1.0.0-rc.1', '10.20.30'])('can be %s, also as a tag', (version) => {
    expect([parseVersion(version), parseVersion(`v${version}`)]).toEqual([version, version])
  })

  it.each(['', '1', '1.2', '01.2.3', '1.2.3.4', '1.2.3+build', '1.2.3-', 'latest', '1.2.3; rm', '--help', '../1.2.3'])(
    'cannot be "%s"',
    (text) => {
      expect(() => parseVersion(text)).toThrow('MAJOR.MINOR.PATCH')
    },
  )

  it('with a suffix is a prerelease', () => {
    expect(['1.0.0', '1.0.0-rc.1'].map(isPrerelease)).toEqual([false, true])
  })
})

describe('the changelog', () => {
  const before =
    '# Changelog\n\nAbout.\n\n## Unreleased\n\n### Worker\n\n- Costs $& less.\n\n## 0.1.0 - 2026-01-01\n\n- First.\n'
  const after = releaseEntries(before, '0.2.0', '2026-02-01')

  it('gets a heading above the entries, and an empty section for the next ones', () => {
    expect(after).toBe(before.replace('## Unreleased\n', () => '## Unreleased\n\n## 0.2.0 - 2026-02-01\n'))
  })

  it('gives the entries of one version', () => {
    expect(entriesOf(after, '0.2.0')).toBe('### Worker\n\n- Costs $& less.\n\n')
    expect(entriesOf(after, '0.1.0')).toBe('- First.\n')
    expect(entriesOf(after, '0.1')).toBeUndefined()
  })

  it('of the first release does not announce it any more', () => {
    const first = '# Changelog\n\n## Unreleased\n\n0.1.0 will be the first release. It contains:\n\n- All.\n'
    expect(releaseEntries(first, '0.1.0', '2026-01-01')).toBe(
      '# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-01-01\n\n- All.\n',
    )
  })

  it('is left as it is if it has the version', () => {
    expect(releaseEntries(after, '0.2.0', '2026-03-01')).toBe(after)
  })

  it.each(['# Changelog\n', '# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-01-01\n\n- First.\n'])(
    'without new entries is refused',
    (text) => {
      expect(() => releaseEntries(text, '0.2.0', '2026-02-01')).toThrow('no entries below Unreleased')
    },
  )

  it('of this checkout can be released', () => {
    expect(entriesOf(releaseEntries(textOf('CHANGELOG.md'), '9.9.9', '2026-02-01'), '9.9.9')).toMatch(/^### /)
  })
})
