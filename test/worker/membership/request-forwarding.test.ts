import { expect, it } from 'vitest'
import type { PeerClient, PeerResponse } from '../../../src/worker/membership/peer-client.ts'
import {
  forwardRequest,
  type RequestTarget,
  type WorkerRequestHandlerOptions,
} from '../../../src/worker/membership/request-forwarding.ts'
import type { WorkerGroup } from '../../../src/worker/membership/worker-group.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const LEADER = 'http://leader/'
const OWNER = 'http://owner/'
const REQUEST = { method: 'PUT', url: '/connectors/c/config', headers: {}, body: {} }
const RESPONSE: PeerResponse = { status: 200, location: null, text: '{}' }

it('handles a request locally when this worker is the leader or the owner, or the object does not exist', async () => {
  const leader = optionsFor({ isLeader: true })
  expect(await forwardRequest(leader, 'leader', REQUEST, 'first')).toBeUndefined()
  const owner = optionsFor({ has: () => true })
  expect(await forwardRequest(owner, { owner: 'c' }, REQUEST, 'first')).toBeUndefined()
  const unknown = { ...optionsFor({}), exists: () => false }
  expect(await forwardRequest(unknown, { owner: 'c' }, REQUEST, 'first')).toBeUndefined()
})

it('forwards a request to the leader, which forwards it to the owner', async () => {
  const follower = optionsFor({ leaderUrl: LEADER })
  expect(await forwardRequest(follower, 'leader', REQUEST, 'first')).toBe(RESPONSE)
  expect(follower.forwarded).toEqual([[LEADER, 'first']])
  const leader = optionsFor({ isLeader: true, urlOf: () => OWNER })
  expect(await forwardRequest(leader, { owner: 'c' }, REQUEST, 'second')).toBe(RESPONSE)
  expect(leader.forwarded).toEqual([[OWNER, 'last']])
})

it('reads the config topic to its end before it answers', async () => {
  const follower = optionsFor({ leaderUrl: LEADER })
  await forwardRequest(follower, 'leader', REQUEST, 'first')
  expect(follower.reads).toBe(1)
})

it('waits while no leader is reachable, and rejects the request after 5 s', async () => {
  const unreachable = optionsFor({ leaderUrl: LEADER }, () => undefined)
  const rejection = expect(forwardRequest(unreachable, 'leader', REQUEST, 'first')).rejects.toMatchObject({
    code: 'rebalancing',
    message: expect.stringContaining('no known leader URL'),
  })
  await unreachable.clock.advance(5_100)
  await rejection
  expect(unreachable.forwarded.length).toBeGreaterThan(50)

  const leaderless: { leaderUrl?: string } = {}
  const waiting = optionsFor(leaderless)
  const response = forwardRequest(waiting, 'leader', REQUEST, 'first')
  await waiting.clock.advance(1_000)
  leaderless.leaderUrl = LEADER
  await waiting.clock.advance(100)
  expect(await response).toBe(RESPONSE)
})

it('does not forward a request that was already forwarded twice', async () => {
  const third = optionsFor({ leaderUrl: LEADER })
  const rejection = expect(forwardRequest(third, 'leader', REQUEST, 'last')).rejects.toMatchObject({
    code: 'rebalancing',
    message: expect.stringContaining('conflicting operation'),
  })
  await third.clock.advance(5_100)
  await rejection
  expect(third.forwarded).toEqual([])
})

type GroupState = Partial<Pick<WorkerGroup, 'isLeader' | 'leaderUrl' | 'urlOf' | 'has'>>

function optionsFor(state: GroupState, respond: () => PeerResponse | undefined = () => RESPONSE) {
  const forwarded: [string, string][] = []
  const fake = {
    forwarded,
    reads: 0,
    clock: new FakeClock(),
    group: () =>
      ({ isLeader: false, has: () => false, ...state, leaderUrl: state.leaderUrl }) as unknown as WorkerGroup,
    peers: {
      forward: async (url: string, _: unknown, isLastHop: boolean) => {
        forwarded.push([url, isLastHop ? 'last' : 'first'])
        return respond()
      },
    } as unknown as PeerClient,
    exists: (_: Exclude<RequestTarget, 'leader'>['owner']) => true,
    readConfigs: async () => {
      fake.reads += 1
    },
  }
  return fake satisfies WorkerRequestHandlerOptions
}
