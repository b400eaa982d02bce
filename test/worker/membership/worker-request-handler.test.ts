import { expect, it } from 'vitest'
import type { PeerClient, PeerResponse } from '../../../src/worker/membership/peer-client.ts'
import type { WorkerGroup } from '../../../src/worker/membership/worker-group.ts'
import {
  forwardRequest,
  type RequestTarget,
  type WorkerRequestHandlerOptions,
} from '../../../src/worker/membership/worker-request-handler.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const LEADER = 'http://leader/'
const OWNER = 'http://owner/'
const REQUEST = { method: 'PUT', url: '/connectors/c/config', headers: {}, body: {} }
const ANSWER: PeerResponse = { status: 200, location: null, text: '{}' }

it('handles a request locally when this worker is the leader or the owner, or the object does not exist', async () => {
  const leads = parts({ isLeader: true })
  expect(await forwardRequest(leads, 'leader', REQUEST, 'first')).toBeUndefined()
  const has = parts({ has: () => true })
  expect(await forwardRequest(has, { owner: 'c' }, REQUEST, 'first')).toBeUndefined()
  const unknown = { ...parts({}), exists: () => false }
  expect(await forwardRequest(unknown, { owner: 'c' }, REQUEST, 'first')).toBeUndefined()
})

it('forwards a request to the leader, which forwards it to the owner', async () => {
  const follower = parts({ leaderUrl: LEADER })
  expect(await forwardRequest(follower, 'leader', REQUEST, 'first')).toBe(ANSWER)
  expect(follower.passed).toEqual([[LEADER, 'first']])
  const leader = parts({ isLeader: true, urlOf: () => OWNER })
  expect(await forwardRequest(leader, { owner: 'c' }, REQUEST, 'second')).toBe(ANSWER)
  expect(leader.passed).toEqual([[OWNER, 'last']])
})

it('reads the config topic to its end before it answers', async () => {
  const follower = parts({ leaderUrl: LEADER })
  await forwardRequest(follower, 'leader', REQUEST, 'first')
  expect(follower.reads).toBe(1)
})

it('waits while no leader is reachable, and rejects the request after 10 s', async () => {
  const away = parts({ leaderUrl: LEADER }, () => undefined)
  const refused = expect(forwardRequest(away, 'leader', REQUEST, 'first')).rejects.toMatchObject({
    code: 'rebalancing',
    message: expect.stringContaining('no known leader URL'),
  })
  await away.clock.advance(10_100)
  await refused
  expect(away.passed.length).toBeGreaterThan(100)

  const late: { leaderUrl?: string } = {}
  const waiting = parts(late)
  const answer = forwardRequest(waiting, 'leader', REQUEST, 'first')
  await waiting.clock.advance(1_000)
  late.leaderUrl = LEADER
  await waiting.clock.advance(100)
  expect(await answer).toBe(ANSWER)
})

it('does not forward a request that was already forwarded twice', async () => {
  const third = parts({ leaderUrl: LEADER })
  const refused = expect(forwardRequest(third, 'leader', REQUEST, 'last')).rejects.toMatchObject({
    code: 'rebalancing',
    message: expect.stringContaining('conflicting operation'),
  })
  await third.clock.advance(10_100)
  await refused
  expect(third.passed).toEqual([])
})

type Place = Partial<Pick<WorkerGroup, 'isLeader' | 'leaderUrl' | 'urlOf' | 'has'>>

function parts(place: Place, answer: () => PeerResponse | undefined = () => ANSWER) {
  const passed: [string, string][] = []
  const fake = {
    passed,
    reads: 0,
    clock: new FakeClock(),
    group: () =>
      ({ isLeader: false, has: () => false, ...place, leaderUrl: place.leaderUrl }) as unknown as WorkerGroup,
    peers: {
      forward: async (url: string, _: unknown, isLastHop: boolean) => {
        passed.push([url, isLastHop ? 'last' : 'first'])
        return answer()
      },
    } as unknown as PeerClient,
    exists: (_: Exclude<RequestTarget, 'leader'>['owner']) => true,
    readConfigs: async () => {
      fake.reads += 1
    },
  }
  return fake satisfies WorkerRequestHandlerOptions
}
