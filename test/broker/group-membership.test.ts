import { describe, expect, it, onTestFinished } from 'vitest'
import type { BrokerBackend } from '../../src/broker/backend.ts'
import { BrokerError } from '../../src/broker/error.ts'
import { openGroupMembership } from '../../src/broker/group-membership.ts'
import { silentLogger } from '../../src/config/logger.ts'
import { FakeClock } from '../support/fake-clock.ts'

const SESSION_MS = 10_000
const HEARTBEAT_MS = 3_000

describe('a member', () => {
  it('is told that it lost its place when its session is over, also while a heartbeat hangs', async () => {
    const { clock, events } = await joined({ heartbeat: () => new Promise(() => undefined) })
    await clock.advance(SESSION_MS - 1)
    expect(events).toEqual(['joined 1'])
    await clock.advance(1)
    expect(events).toEqual(['joined 1', 'lost', 'joined 2'])
  })

  it('keeps its place when heartbeats fail for less than a session', async () => {
    let isDown = true
    const { clock, events } = await joined({
      heartbeat: async () => {
        if (isDown) throw new BrokerError('unavailable', 'down')
      },
    })
    await clock.advance(SESSION_MS - 1)
    isDown = false
    await clock.advance(10 * SESSION_MS)
    expect(events).toEqual(['joined 1'])
  })

  it('has a heartbeat interval at least when it could not run for longer than its session', async () => {
    let answer = (): void => undefined
    const beaten = () => new Promise<void>((resolve) => (answer = resolve))
    const { clock, events } = await joined({ heartbeat: beaten }, { sessionTimeoutMs: HEARTBEAT_MS - 1 })
    await clock.advance(HEARTBEAT_MS)
    await clock.advance(HEARTBEAT_MS - 1)
    answer()
    await clock.advance(0)
    expect(events).toEqual(['joined 1'])
  })

  it('leaves its group when it is closed, but not the place that another one took', async () => {
    let isFenced = false
    const { clock, events, left, close } = await joined(
      {
        heartbeat: async () => {
          if (isFenced) throw new BrokerError('fenced', 'somebody else has it')
        },
      },
      { instanceId: 'i' },
    )
    isFenced = true
    await clock.advance(HEARTBEAT_MS)
    expect(events).toEqual(['joined 1', 'lost'])
    await close()
    expect(left).toEqual([])

    const other = await joined({ heartbeat: async () => undefined }, { instanceId: 'i' })
    await other.close()
    expect(other.left).toEqual([{ groupId: 'g', instanceId: 'i', memberId: 'm' }])
  })
})

/** A member of a group of its own, in a home that knows no more than that. */
async function joined(
  calls: Pick<BrokerBackend, 'heartbeat'>,
  options: { readonly sessionTimeoutMs?: number; readonly instanceId?: string } = {},
) {
  const clock = new FakeClock()
  const events: string[] = []
  const left: unknown[] = []
  let generation = 0
  const home = {
    joinGroup: async () => ({ generation: ++generation, memberId: 'm', leaderId: 'm', protocol: 'p', members: [] }),
    syncGroup: async () => new Uint8Array(0),
    leaveGroup: async (request: unknown) => void left.push(request),
    ...calls,
  } as unknown as BrokerBackend
  const member = await openGroupMembership(
    { home, clock, logger: silentLogger(), onClose: () => undefined },
    {
      groupId: 'g',
      protocolType: 'test',
      sessionTimeoutMs: SESSION_MS,
      heartbeatMs: HEARTBEAT_MS,
      ...options,
      protocol: {
        protocols: () => [{ name: 'p', metadata: new Uint8Array(0) }],
        assign: () => new Map(),
        onJoined: (current) => void events.push(`joined ${current.generation}`),
        onLost: () => void events.push('lost'),
      },
    },
  )
  const close = () => member.close()
  onTestFinished(close)
  return { clock, events, left, close }
}
