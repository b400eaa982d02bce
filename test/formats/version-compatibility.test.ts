import { describe, expect, it } from 'vitest'
import type { CompareOptions } from '../../src/formats/format.ts'
import { type CompatibilityRules, comparedVersions, conflictsWith } from '../../src/formats/version-compatibility.ts'

/** Every version conflicts, and says who reads. */
const schema = (name: string, type: 'AVRO' | 'JSON' = 'AVRO') => ({
  type,
  name,
  incompatibilities: (writer: { readonly name: string }, { roles, policy }: CompareOptions) => [
    { type: `${roles.reader} ${name} reads ${writer.name} ${policy}`, path: '', description: '', message: '' },
  ],
})
type Schema = ReturnType<typeof schema>
const version = (number: number, group?: string) => ({
  number,
  properties: group === undefined ? undefined : { major: group },
  type: 'AVRO' as const,
  parsed: () => schema(`v${number}`),
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

describe('conflictsWith', () => {
  const found = (rules: CompatibilityRules) =>
    [...conflictsWith<Schema, ReturnType<typeof version>>(schema('new'), [version(1)], rules)].map((conflict) =>
      conflict.kind === 'type' ? 'type' : [...conflict.forward, ...conflict.backward].map(({ type }) => type),
    )

  it.each<[CompatibilityRules, readonly string[]]>([
    [{ level: 'BACKWARD' }, ['new new reads v1 STRICT']],
    [{ level: 'FORWARD_TRANSITIVE', policy: 'LENIENT' }, ['old v1 reads new LENIENT']],
    [{ level: 'FULL' }, ['old v1 reads new STRICT', 'new new reads v1 STRICT']],
  ])('compares in the directions of the level: %j', (rules, expected) => {
    expect(found(rules)).toEqual([expected])
  })

  it('compares a version only when its conflict is requested', () => {
    const later = { ...version(2), parsed: () => expect.unreachable() }
    const [conflict] = conflictsWith<Schema, ReturnType<typeof version>>(schema('new'), [version(1), later], {
      level: 'BACKWARD',
    })
    expect(conflict?.version.number).toBe(1)
  })

  it('reports another schema type, and skips versions that cannot be parsed', () => {
    const unparsed = { ...version(1), parsed: () => undefined }
    expect([...conflictsWith(schema('new'), [unparsed], { level: 'FULL' })]).toEqual([])
    expect([...conflictsWith(schema('new', 'JSON'), [version(4)], { level: 'FULL' })]).toMatchObject([
      { kind: 'type', version: { number: 4 } },
    ])
  })
})
