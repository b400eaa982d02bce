import { describe, expect, it } from 'vitest'
import { TopicAccess } from '../../../src/worker/topic-access/topic-access.ts'
import type { TopicAccessPolicy } from '../../../src/worker/topic-access/topic-access-policy.ts'
import { OPEN_POLICY, topicAccess } from '../../support/topic-access.ts'

const PROGRAM = 'a program of this installation uses it for itself'

describe('the topics of a connector', () => {
  const access = topicAccess({ ownTopics: ['configs', '_confluent-*'], offsetsTopics: ['their-offsets'] })

  it('are all except those that programs and connectors use for themselves', () => {
    expect(access.problem('write', 'orders')).toBeUndefined()
    expect(access.problem('write', 'configs')).toBe(
      `the connector 'own' may not write to the topic 'configs': ${PROGRAM}`,
    )
    expect(access.problem('read', '_confluent-secrets')).toContain(PROGRAM)
    expect(access.problem('read', 'their-offsets')).toContain('it stores the offsets of a connector')
  })

  it('are compared exactly: Kafka distinguishes case and punctuation', () => {
    for (const other of ['Configs', 'configs ', 'con.figs', 'configs-1'])
      expect(access.allows('write', other)).toBe(true)
  })

  it('are rejected with the code not_allowed, also one of many records', () => {
    const records = ['orders', 'orders', 'configs', 'orders'].map((topic) => ({ topic }))
    expect(() => access.requireWrites(records)).toThrow(expect.objectContaining({ code: 'not_allowed' }))
  })

  it('are those of the grants, by operation', () => {
    const rules = { 'own*': [{ kind: 'topics', patterns: ['orders-*'], operations: ['read'] }] } as const
    const granted = topicAccess({ rules, ownTopics: ['orders-internal'] })
    expect(granted.allows('read', 'orders-1')).toBe(true)
    expect(granted.problem('write', 'orders-1')).toContain(
      "the permissions of the connector do not include 'write' on it",
    )
    expect(granted.problem('read', 'orders-internal')).toContain(PROGRAM)
    expect(topicAccess({ rules }, 'another').allows('write', 'orders-1')).toBe(true)
  })

  it('follow the policy', () => {
    let policy: TopicAccessPolicy = OPEN_POLICY
    const following = new TopicAccess('own', () => policy)
    expect(following.allows('write', 'orders')).toBe(true)
    policy = { ...policy, offsetsTopics: ['orders'] }
    expect(following.allows('write', 'orders')).toBe(false)
    policy = OPEN_POLICY
    expect(following.allows('write', 'orders')).toBe(true)
  })
})

describe('the topic in which a connector stores its offsets', () => {
  const policy = { ownTopics: ['configs', 'offsets'], offsetsTopics: ['shared-offsets'] }

  it('may be the one of the worker or one of connectors, and no other topic of a program', () => {
    const access = topicAccess(policy)
    expect(access.offsetsTopicProblem('offsets')).toBeUndefined()
    expect(access.offsetsTopicProblem('shared-offsets')).toBeUndefined()
    expect(access.offsetsTopicProblem('configs')).toBe(
      `the connector 'own' may not store offsets in the topic 'configs': ${PROGRAM}`,
    )
    expect(() => access.requireOffsetsTopic('configs')).toThrow(PROGRAM)
  })

  it('must be granted for writing, except the one of the worker', () => {
    const access = topicAccess({ ...policy, rules: { '*': [] } })
    expect(access.offsetsTopicProblem('offsets')).toBeUndefined()
    expect(access.offsetsTopicProblem('shared-offsets')).toContain("do not include 'write'")
  })
})

describe('the consumer group of a connector', () => {
  it('is its own one, or one that belongs to no program and to no other connector', () => {
    const access = topicAccess({ ownGroups: ['workers', 'weir-dlq-*'], takenGroups: ['connect-other'] })
    expect(access.groupProblem('connect-own')).toBeUndefined()
    expect(access.groupProblem('application')).toBeUndefined()
    expect(access.groupProblem('workers')).toBe(
      `the connector 'own' may not use the consumer group 'workers': ${PROGRAM}`,
    )
    expect(access.groupProblem('weir-dlq-orders')).toContain(PROGRAM)
    expect(access.groupProblem('connect-other')).toContain('it is the group of another connector')
  })

  it('must be granted if the connector has an entry, except its own one', () => {
    const rules = { own: [{ kind: 'groups', patterns: ['team-*'], operations: ['read'] }] } as const
    const access = topicAccess({ rules })
    expect(access.groupProblem('connect-own')).toBeUndefined()
    expect(access.groupProblem('team-1')).toBeUndefined()
    expect(access.groupProblem('application')).toContain("do not include 'read'")
  })
})
