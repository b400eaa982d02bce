import { describe, expect, it } from 'vitest'
import { type CompatibilityRules, comparedVersions, conflictsWith } from '../../src/formats/compatibility-level.ts'
import type { CompareOptions } from '../../src/formats/format.ts'

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

describe('the versions that a new schema is compared with', () => {
  it.each<[rules: CompatibilityRules, group: string | undefined, expected: readonly number[]]>([
    [{ level: 'NONE' }, undefined, []],
    [{ level: 'BACKWARD' }, undefined, [3]],
    [{ level: 'FULL_TRANSITIVE' }, undefined, [3, 2, 1]],
    [{ level: 'BACKWARD', group: 'major' }, 'a', [1]],
    [{ level: 'FORWARD_TRANSITIVE', group: 'major' }, 'b', [2]],
    [{ level: 'FORWARD_TRANSITIVE', group: 'major' }, undefined, [3]],
    [{ level: 'BACKWARD', group: 'major' }, 'c', []],
  ])('%j of group %s', (rules, group, expected) => {
    const properties = group === undefined ? undefined : { major: group }
    expect(comparedVersions(properties, VERSIONS, rules).map(({ number }) => number)).toEqual(expected)
  })
})

describe('the conflicts of a new schema', () => {
  const found = (rules: CompatibilityRules) =>
    [...conflictsWith<Schema, ReturnType<typeof version>>(schema('new'), [version(1)], rules)].map((conflict) =>
      conflict.kind === 'type' ? 'type' : [...conflict.forward, ...conflict.backward].map(({ type }) => type),
    )

  it.each<[CompatibilityRules, readonly string[]]>([
    [{ level: 'BACKWARD' }, ['new new reads v1 STRICT']],
    [{ level: 'FORWARD_TRANSITIVE', policy: 'LENIENT' }, ['old v1 reads new LENIENT']],
    [{ level: 'FULL' }, ['old v1 reads new STRICT', 'new new reads v1 STRICT']],
  ])('are found by level and policy: %j', (rules, expected) => {
    expect(found(rules)).toEqual([expected])
  })

  it('are one for each version, of which the next is compared only when it is asked for', () => {
    const later = { ...version(2), parsed: () => expect.unreachable() }
    const [conflict] = conflictsWith<Schema, ReturnType<typeof version>>(schema('new'), [version(1), later], {
      level: 'BACKWARD',
    })
    expect(conflict?.version.number).toBe(1)
  })

  it('include another type, and leave out what cannot be parsed', () => {
    const unparsed = { ...version(1), parsed: () => undefined }
    expect([...conflictsWith(schema('new'), [unparsed], { level: 'FULL' })]).toEqual([])
    expect([...conflictsWith(schema('new', 'JSON'), [version(4)], { level: 'FULL' })]).toMatchObject([
      { kind: 'type', version: { number: 4 } },
    ])
  })
})
