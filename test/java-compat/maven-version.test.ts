import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compareMavenVersions } from '../../src/java-compat/maven-version.ts'
import { parseVersionRequirement } from '../../src/java-compat/maven-version-range.ts'

type Golden = {
  readonly compare: readonly (readonly [a: string, b: string, order: number])[]
  readonly ranges: readonly { range: string; matches?: readonly string[]; text?: string; error?: string }[]
}

/** Recorded with the classes of maven-artifact, without versions that begin with a word for a release. */
const golden = JSON.parse(readFileSync(join(import.meta.dirname, 'maven-version.golden.json'), 'utf8')) as Golden
const VERSIONS = ['0.9', '1.0', '1.0-alpha-1', '1.1', '1.2', '1.5', '2.0', '2.0-SNAPSHOT', '2.5', '3.0', '3.4.0.Final']

describe('versions as Maven orders them', () => {
  it('are compared as recorded', () => {
    expect(golden.compare.length).toBeGreaterThan(300)
    const ours = golden.compare.map(([a, b]) => [a, b, Math.sign(compareMavenVersions(a, b))])
    expect(ours).toEqual(golden.compare)
  })

  it.each(golden.ranges)('are matched with $range', ({ range, matches, text, error }) => {
    if (error !== undefined) {
      expect(() => parseVersionRequirement(range)).toThrow(error)
      return
    }
    const parsed = parseVersionRequirement(range)
    expect({ matches: VERSIONS.filter((version) => parsed.contains(version)), text: parsed.text }).toEqual({
      matches,
      text,
    })
  })

  it('may be long, without taking long', () => {
    const long = '1-'.repeat(100_000)
    expect(compareMavenVersions(long, long)).toBe(0)
  })
})
