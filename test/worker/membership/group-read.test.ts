import { expect, it } from 'vitest'
import { type GroupReadOptions, readFromGroup } from '../../../src/worker/membership/group-read.ts'
import type { PeerResponse } from '../../../src/worker/membership/peer-client.ts'

const REQUEST = { method: 'GET', url: '/ui/api/x?after=1', headers: { authorization: 'Basic eA==' }, body: undefined }
const [LEADER, A, B] = ['http://leader:1/', 'http://a:2/', 'http://b:3/']

type Group = ReturnType<GroupReadOptions['group']>

function optionsFor(group: Group, responses: Readonly<Record<string, PeerResponse | Error | undefined>> = {}) {
  const asked: (readonly [url: string, isLastHop: boolean, authorization: string | undefined])[] = []
  const peers: GroupReadOptions['peers'] = {
    forward: async (url, { headers }, isLastHop) => {
      asked.push([url, isLastHop, headers.authorization])
      const response = responses[url]
      if (response instanceof Error) throw response
      return response
    },
  }
  return { options: { group: () => group, peers }, asked }
}

const ok = (...workers: readonly string[]): PeerResponse => ({
  status: 200,
  location: null,
  text: JSON.stringify({ workers, missing: [] }),
})
const leading = (...otherUrls: readonly string[]): Group => ({ isLeader: true, leaderUrl: LEADER, otherUrls })
const FOLLOWER: Group = { isLeader: false, leaderUrl: LEADER, otherUrls: [] }

it('the leader asks the other workers with the credentials of the user, and names those that do not respond', async () => {
  const { options, asked } = optionsFor(leading(A, B, 'http://c:4/', 'http://d:5/'), {
    [A]: ok('a'),
    [B]: new Error('a broken pipe'),
    'http://c:4/': undefined,
    'http://d:5/': { status: 403, location: null, text: '{}' },
  })
  expect(await readFromGroup(options, REQUEST, undefined, 'own')).toEqual({
    workers: ['own', 'a'],
    missing: ['b:3: a broken pipe', 'c:4: there is no connection to it', 'd:5: HTTP 403'],
  })
  expect(asked[0]).toEqual([A, true, 'Basic eA=='])
})

it('another worker passes the request on to the leader, which knows all', async () => {
  const { options, asked } = optionsFor(FOLLOWER, { [LEADER]: ok('leader', 'own') })
  expect(await readFromGroup(options, REQUEST, undefined, 'own')).toEqual({ workers: ['leader', 'own'], missing: [] })
  expect(asked).toEqual([[LEADER, false, 'Basic eA==']])
})

it('a worker responds with its own part if the leader does not respond or is not known', async () => {
  const { options } = optionsFor(FOLLOWER, { [LEADER]: new Error('timeout') })
  expect(await readFromGroup(options, REQUEST, undefined, 'own')).toEqual({
    workers: ['own'],
    missing: ['leader:1: timeout'],
  })
  const unknown = optionsFor({ isLeader: false, leaderUrl: undefined, otherUrls: [] })
  expect((await readFromGroup(unknown.options, REQUEST, undefined, 'own')).missing).toHaveLength(1)
})

it('a request is not forwarded a third time', async () => {
  const { options, asked } = optionsFor(FOLLOWER)
  expect((await readFromGroup(options, REQUEST, 'true', 'own')).workers).toEqual(['own'])
  const last = optionsFor(leading(A))
  expect(await readFromGroup(last.options, REQUEST, 'false', 'own')).toEqual({ workers: ['own'], missing: [] })
  expect([...asked, ...last.asked]).toEqual([])
  const alone = optionsFor(undefined)
  expect((await readFromGroup(alone.options, REQUEST, undefined, 'own')).workers).toEqual(['own'])
})
