import { describe, expect, it } from 'vitest'
import type { CompareOptions, ParsedSchema } from '../../src/formats/format.ts'
import { type CompatibilityRules, comparedVersions, compareSchemas } from '../../src/formats/version-compatibility.ts'

/** Every version conflicts, and says who reads. */
const schema = (name: string) =>
  ({
    name,
    incompatibilities: (writer: ParsedSchema, { roles, policy }: CompareOptions) => [
      { type: `${roles.reader} ${name} reads ${writer.name} ${policy}`, path: '', description: '', message: '' },
    ],
  }) as unknown as ParsedSchema
const version = (number: number, group?: string) => ({
  number,
  properties: group === undefined ? undefined : { major: group },
})
const VERSIONS = [version(1, 'a'), version(2, 'b'), version(3)]

describe('comparedVersions', () => {
  it.each<[rules: CompatibilityRules, group: string | undefined, expected: readonly number[]]>([
    [{ level: 'NONE' }, undefined, []],
    [{ level: 'BACKWARD' }, undefined, [3]],
    [{ level: 'FULL_TRANSITIVE' }, undefined, [3, 2, 1]],
    [{ level: 'BACKWARD', group: 'major' }, 'a', [1]],
    [{ level: 'FORWARD_TRANSITIVE', group: 'major' }, 'b', [2]],
    [{ level: 'FORWARD_TRANSITIVE', group: 'major' }, undefined, [3]],
    [{ level: 'BACKWARD', group: 'major' }, 'c', []],
  ])('selects versions by level and group: %j, group %s', (rules, group, expected) => {
    const properties = group === undefined ? undefined : { major: group }
    expect(comparedVersions(properties, VERSIONS, rules).map(({ number }) => number)).toEqual(expected)
  })
})

describe('compareSchemas', () => {
  it.each<[CompatibilityRules, readonly string[]]>([
    [{ level: 'BACKWARD' }, ['new new reads v1 STRICT']],
    [{ level: 'FORWARD_TRANSITIVE', policy: 'LENIENT' }, ['old v1 reads new LENIENT']],
    [{ level: 'FULL' }, ['old v1 reads new STRICT', 'new new reads v1 STRICT']],
  ])('compares in the directions of the level: %j', (rules, expected) => {
    const found = compareSchemas(schema('new'), schema('v1'), rules)
    expect([...(found?.forward ?? []), ...(found?.backward ?? [])].map(({ type }) => type)).toEqual(expected)
  })

  it('finds nothing in compatible schemas', () => {
    const compatible = { ...schema('new'), incompatibilities: () => [] } as unknown as ParsedSchema
    expect(compareSchemas(compatible, compatible, { level: 'FULL' })).toBeUndefined()
  })
})
