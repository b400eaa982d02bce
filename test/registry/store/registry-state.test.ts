import { describe, expect, it } from 'vitest'
import { guidOf } from '../../../src/registry/model/schema.ts'
import { type Subject, toSubject } from '../../../src/registry/model/subject.ts'
import { RegistryState } from '../../../src/registry/store/registry-state.ts'

const content = (text: string, references: { name: string; subject: string; version: number }[] = []) => {
  const bare = { type: 'AVRO', text, references, metadata: undefined, ruleSet: undefined } as const
  return { ...bare, guid: guidOf(bare) }
}

function put(state: RegistryState, name: string, version: number, id: number, text: string, options: object = {}) {
  const subject = toSubject(name)
  const value = { subject, version, id, content: content(text), deleted: false, extra: {}, ...options }
  return state.apply({ kind: 'schema', subject, version, value }, 5)
}
const numbers = (state: RegistryState, name: string) =>
  state.versions(name as Subject).map(({ version, deleted }) => (deleted ? -version : version))

describe('the state of a registry', () => {
  it('sorts versions, regardless of the order of their records', () => {
    const state = new RegistryState()
    for (const version of [2, 5, 1, 4]) put(state, 's', version, version, `"t${version}"`)
    expect(numbers(state, 's')).toEqual([1, 2, 4, 5])
    expect(state.version('s' as Subject, 4)?.id).toBe(4)
    expect(state.version('s' as Subject, 3)).toBeUndefined()
    expect(state.latest('s' as Subject)?.version).toBe(5)
  })

  it('finds the ID of a content in each context', () => {
    const state = new RegistryState()
    put(state, 'a', 1, 1, '"int"')
    put(state, ':.c:b', 1, 9, '"int"')
    const [a] = state.versions('a' as Subject)
    const [b] = state.versions(':.c:b' as Subject)
    expect(a?.content).toEqual(b?.content)
    expect([state.idOf('.', a?.content.guid ?? ''), state.idOf('.c', a?.content.guid ?? '')]).toEqual([1, 9])
    expect([state.idMax('.'), state.idMax('.c')]).toEqual([1, 9])
  })

  it('finds a soft-deleted schema by ID; a hard-deleted one is removed, but its ID counts for the maximum', () => {
    const state = new RegistryState()
    put(state, 's', 1, 3, '"int"')
    state.apply({ kind: 'delete-subject', subject: 's' as Subject, version: 1 }, 6)
    expect(numbers(state, 's')).toEqual([-1])
    expect([...state.holders('.', 3)]).toHaveLength(1)
    state.apply({ kind: 'schema', subject: 's' as Subject, version: 1, value: null }, 7)
    expect([...state.subjects()]).toEqual([])
    expect([...state.holders('.', 3)]).toEqual([])
    expect(state.idMax('.')).toBe(3)
  })

  it('does not apply a record that assigns another schema to an existing ID', () => {
    const state = new RegistryState()
    put(state, 's', 1, 1, '"int"')
    expect(put(state, 't', 1, 1, '"long"')).toBe('id-conflict')
    expect(numbers(state, 't')).toEqual([])
    expect([...state.holders('.', 1)][0]?.content.text).toBe('"int"')
  })

  it('finds the referrers of a version in the context of the referring subject', () => {
    const state = new RegistryState()
    const refers = { content: content('"x"', [{ name: 'n', subject: 't', version: 1 }]) }
    put(state, ':.c:t', 1, 1, '"int"')
    put(state, ':.c:s', 1, 2, '', refers)
    expect(state.referrers(':.c:t' as Subject, 1).map(({ subject }) => subject)).toEqual([':.c:s'])
    expect(state.referrers('t' as Subject, 1)).toEqual([])
    state.apply({ kind: 'schema', subject: ':.c:s' as Subject, version: 1, value: null }, 6)
    expect(state.referrers(':.c:t' as Subject, 1)).toEqual([])
  })

  it('removes soft-deleted versions in the scope of a clear-subject record', () => {
    const state = new RegistryState()
    put(state, ':.c:a', 1, 1, '"a"', { deleted: true })
    put(state, ':.c:a', 2, 2, '"b"')
    put(state, ':.d:a', 1, 1, '"a"', { deleted: true })
    state.apply({ kind: 'clear-subject', subject: ':.c:' as Subject }, 6)
    expect([numbers(state, ':.c:a'), numbers(state, ':.d:a')]).toEqual([[2], [-1]])
    state.apply({ kind: 'clear-subject', subject: null }, 6)
    expect(numbers(state, ':.d:a')).toEqual([])
  })

  it('lists the default context first', () => {
    const state = new RegistryState()
    put(state, ':.z:a', 1, 1, '"a"')
    state.apply({ kind: 'context', context: '.b', known: true }, 6)
    expect(state.contexts()).toEqual(['.', '.b', '.z'])
  })

  it('returns the newest record of an ID last, also after older ones were removed', () => {
    const state = new RegistryState()
    for (const name of ['a', 'b', 'c']) put(state, name, 1, 7, '"int"')
    put(state, 'a', 1, 7, '"int"')
    const holders = () => [...state.holders('.', 7)].map(({ subject }) => subject)
    expect(holders()).toEqual(['b', 'c', 'a'])
    const remove = (name: string) =>
      state.apply({ kind: 'schema', subject: name as Subject, version: 1, value: null }, 6)
    remove('a')
    expect(holders()).toEqual(['b', 'c'])
    remove('b')
    remove('c')
    expect([holders(), state.isInUse('.')]).toEqual([[], false])
  })

  it('gives a content the ID of its newest record, until no version has both', () => {
    const state = new RegistryState()
    const { guid } = content('"int"')
    put(state, 'a', 1, 1, '"int"')
    put(state, 'b', 1, 2, '"int"')
    put(state, 'c', 1, 2, '"int"')
    state.apply({ kind: 'schema', subject: 'c' as Subject, version: 1, value: null }, 6)
    expect(state.idOf('.', guid)).toBe(2)
    state.apply({ kind: 'schema', subject: 'b' as Subject, version: 1, value: null }, 6)
    expect(state.idOf('.', guid)).toBeUndefined()
  })

  it('keeps the members of a record that it does not interpret', () => {
    const state = new RegistryState()
    const { guid } = content('"int"')
    const extras = [{ md5: guid }, { md5: guid.replaceAll('-', '') }, { md5: guid, more: 1 }, { md5: 'other' }, {}]
    for (const [at, extra] of extras.entries()) put(state, 's', at + 1, 1, '"int"', { extra })
    expect(state.versions('s' as Subject).map(({ extra }) => extra)).toEqual(extras)
  })

  it('stores a content of several versions once, but not one whose record has a wrong GUID', () => {
    const state = new RegistryState()
    for (const version of [1, 2]) put(state, 's', version, 1, '"int"')
    const [first, second] = state.versions('s' as Subject)
    expect(second?.content).toBe(first?.content)
    put(state, 't', 1, 2, '', { content: { ...content('"long"'), guid: first?.content.guid } })
    expect(state.version('t' as Subject, 1)?.content.text).toBe('"long"')
  })

  it('returns versions that do not change afterwards', () => {
    const state = new RegistryState()
    put(state, 's', 1, 1, '"int"')
    const before = state.version('s' as Subject, 1)
    state.apply({ kind: 'delete-subject', subject: 's' as Subject, version: 1 }, 6)
    expect([before?.deleted, state.version('s' as Subject, 1)?.deleted]).toEqual([false, true])
    expect([state.isLive('s' as Subject), state.latest('s' as Subject)]).toEqual([false, undefined])
  })

  it('finds each of many versions of one subject', () => {
    const state = new RegistryState()
    const all = Array.from({ length: 100 }, (_, at) => ((at * 37) % 100) + 1)
    for (const version of all) put(state, 's', version, version, `"${version}"`)
    expect(numbers(state, 's')).toEqual(all.toSorted((a, b) => a - b))
    expect(all.map((version) => state.version('s' as Subject, version)?.content.text)).toEqual(all.map((v) => `"${v}"`))
  })
})
