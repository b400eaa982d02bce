import { describe, expect, it } from 'vitest'
import { electLeader } from '../../../src/registry/leadership/elect-leader.ts'

const member = (memberId: string, host: string, more: object = {}) => ({
  memberId,
  identity: { version: 1, host, port: 8081, master_eligibility: true, scheme: 'http', leader: false, ...more },
})

describe('electLeader', () => {
  it('elects the member with the smallest URL, regardless of the order of joining', () => {
    for (const members of [
      [member('1', 'b'), member('2', 'a')],
      [member('2', 'a'), member('1', 'b')],
    ]) {
      expect(electLeader(members, false)).toMatchObject({ error: 0, master: '2', master_identity: { host: 'a' } })
    }
  })

  it('keeps the current leader only if the election is sticky', () => {
    const members = [member('1', 'a'), member('2', 'b', { leader: true })]
    expect(electLeader(members, true).master).toBe('2')
    expect(electLeader(members, false).master).toBe('1')
    expect(electLeader([...members, member('3', 'c', { leader: true })], true).master).toBe('1')
  })

  it('skips ineligible members, and elects no leader if there is no other one', () => {
    const reader = member('1', 'a', { master_eligibility: false, leader: true })
    expect(electLeader([reader, member('2', 'b')], true).master).toBe('2')
    expect(electLeader([reader], true)).toEqual({ version: 1, error: 0, master: null, master_identity: null })
  })

  it('returns an error if two members have the same URL', () => {
    expect(electLeader([member('1', 'a'), member('2', 'a')], true)).toEqual({
      version: 1,
      error: 1,
      master: null,
      master_identity: null,
    })
  })
})
