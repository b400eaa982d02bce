import { describe, expect, it } from 'vitest'
import type { GroupDescription } from '../../../src/broker/broker.ts'
import { registryTakeover } from '../../../src/cli/takeover/registry-takeover.ts'
import { isComplete, planText, statusText } from '../../../src/cli/takeover/takeover.ts'

type Member = { readonly host: string; readonly isWeir?: boolean; readonly isEligible?: boolean }

const TOPIC = { name: '_schemas', endOffset: 12 }

function groupOf(members: readonly Member[], leader?: string): GroupDescription {
  const assignment = Buffer.from(JSON.stringify({ version: 1, error: 0, master: leader ?? null }))
  return {
    groupId: 'schema-registry',
    state: members.length === 0 ? 'empty' : 'stable',
    protocolType: 'sr',
    protocol: 'v0',
    members: members.map(({ host, isWeir = false, isEligible = true }) => ({
      memberId: host,
      clientId: isWeir ? 'weir-registry' : 'sr-1',
      clientHost: '/127.0.0.1',
      metadata: Buffer.from(
        JSON.stringify({ version: 1, host, port: 8081, master_eligibility: isEligible, scheme: 'http' }),
      ),
      assignment,
    })),
  }
}

const lastLines = (group: GroupDescription) => statusText(registryTakeover(group, TOPIC)).split('\n').slice(-2)

describe('the takeover of a registry group', () => {
  it('begins beside the other instances', () => {
    const takeover = registryTakeover(groupOf([{ host: 'a' }, { host: 'b', isEligible: false }], 'a'), TOPIC)
    expect(takeover.facts).toEqual([
      'Group schema-registry: stable, 2 other instances, 0 of Weir.',
      '  http://a:8081: another registry, leader',
      '  http://b:8081: another registry, follower, not eligible',
      'Topic _schemas: ends at offset 12.',
    ])
    expect(statusText(takeover)).toMatch(/Next: Start `weir registry` beside .*\nBack: Nothing has changed yet\.$/)
    expect(isComplete(takeover)).toBe(false)
  })

  it('continues when Weir follows, and warns of an instance that may lead too early', () => {
    const following = groupOf([{ host: 'a' }, { host: 'w', isWeir: true, isEligible: false }], 'a')
    expect(lastLines(following)).toEqual([
      expect.stringContaining('Next: Move the clients to Weir'),
      'Back: Stop Weir. It was a follower and has written nothing.',
    ])
    expect(statusText(registryTakeover(following, TOPIC))).not.toContain('Warning')
    const eager = groupOf([{ host: 'a' }, { host: 'w', isWeir: true }], 'a')
    expect(statusText(registryTakeover(eager, TOPIC))).toContain('Warning: http://w:8081 can become the leader now')
  })

  it('is complete when Weir leads alone, and not before', () => {
    const electing = groupOf([{ host: 'w', isWeir: true, isEligible: false }])
    expect(lastLines(electing)[0]).toContain('Next: Wait until an instance of Weir is the leader')
    const mixed = registryTakeover(groupOf([{ host: 'a' }, { host: 'w', isWeir: true }], 'w'), TOPIC)
    expect(isComplete(mixed)).toBe(false)
    const complete = registryTakeover(groupOf([{ host: 'w', isWeir: true }], 'w'), TOPIC)
    expect(isComplete(complete)).toBe(true)
    expect(statusText(complete)).toContain('Next: Nothing: the takeover is complete.\nBack: Start the other instances')
    expect(planText(complete).match(/\[x\]/g)).toHaveLength(3)
  })

  it.each<[string, readonly Member[], string | undefined, string]>([
    ['Weir alone', [{ host: 'w', isWeir: true, isEligible: false }], 'w', 'Next: Start the other instances beside'],
    ['both', [{ host: 'a' }, { host: 'w', isWeir: true, isEligible: false }], 'a', 'Next: Move the clients to the'],
    ['an election', [{ host: 'a' }], undefined, 'Next: Wait until one of the other instances is the leader'],
    ['another leader', [{ host: 'a' }], 'a', 'Next: Nothing: the return is complete.\nBack: Start Weir beside'],
  ])('is reversed by a return, which continues with %s', (_, members, leader, expected) => {
    const back = registryTakeover(groupOf(members, leader), TOPIC, 'return')
    expect([statusText(back), isComplete(back)]).toEqual([
      expect.stringContaining(expected),
      expected.includes('complete'),
    ])
  })

  it('shows members and topics that it cannot read', () => {
    const [member] = groupOf([{ host: 'a' }]).members
    const group = {
      ...groupOf([]),
      members: [{ ...member!, metadata: Buffer.from('?'), assignment: Buffer.from('{') }],
    }
    expect(registryTakeover(group, { name: '_schemas', endOffset: undefined }).facts.slice(1)).toEqual([
      '  a: another registry, follower, eligible',
      'Topic _schemas: does not exist.',
    ])
  })
})
