import { describe, expect, it, onTestFinished } from 'vitest'
import type { BrokerBackend } from '../../../src/broker/broker-backend.ts'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { openGroupMembership } from '../../../src/broker/consumer/group-membership.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const SESSION_MS = 10_000
const HEARTBEAT_MS = 3_000

describe('group member', () => {
  it('loses its membership after the session timeout, also while a heartbeat is pending', async () => {
    const { clock, events } = await joined({ heartbeat: () => new Promise(() => undefined) })
    await clock.advance(SESSION_MS - 1)
    expect(events).toEqual(['joined 1'])
    await clock.advance(1)
    expect(events).toEqual(['joined 1', 'lost', 'joined 2'])
  })

  it('keeps its membership when heartbeats fail for less than the session timeout', async () => {
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

  it('keeps its membership for at least one heartbeat interval, even if its session timeout is shorter', async () => {
    let respond = (): void => undefined
    const heartbeat = () => new Promise<void>((resolve) => (respond = resolve))
    const { clock, events } = await joined({ heartbeat: heartbeat }, { sessionTimeoutMs: HEARTBEAT_MS - 1 })
    await clock.advance(HEARTBEAT_MS)
    await clock.advance(HEARTBEAT_MS - 1)
    respond()
    await clock.advance(0)
    expect(events).toEqual(['joined 1'])
  })

  it('leaves its group when it is closed, unless another member has replaced it', async () => {
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

const NO_BYTES = new Uint8Array(0)

/** A coordinator that holds back all responses to joins, or to syncs, as if it waited for another member. */
function slowCoordinator(isSlow: { join: boolean; sync: boolean }) {
  const left: string[] = []
  const responding = Promise.withResolvers<void>()
  const result = { generation: 1, memberId: 'm', leaderId: 'm', protocol: 'p', members: [] }
  const backend = {
    joinGroup: async () => {
      if (isSlow.join) await responding.promise
      return result
    },
    syncGroup: async () => {
      if (isSlow.sync) await responding.promise
      return NO_BYTES
    },
    heartbeat: async () => undefined,
    leaveGroup: async ({ memberId }: { memberId: string }) => void left.push(memberId),
  } as unknown as BrokerBackend
  const open = (signal?: AbortSignal) =>
    openGroupMembership(
      { backend, clock: new FakeClock(), logger: silentLogger(), onClose: () => undefined },
      {
        groupId: 'g',
        protocolType: 'test',
        ...(signal && { signal }),
        protocol: {
          protocols: () => [{ name: 'p', metadata: NO_BYTES }],
          assign: () => new Map(),
          onJoined: () => undefined,
        },
      },
    )
  return { open, left, isSlow, respond: responding.resolve }
}

describe('group member that waits for another one', () => {
  it.each(['join', 'sync'] as const)(
    'is cancelled during its first %s, and leaves when the coordinator knows it',
    async (call) => {
      const { open, left, respond } = slowCoordinator({ join: false, sync: false, [call]: true })
      const cancelling = new AbortController()
      const joining = open(cancelling.signal)
      setImmediate(() => cancelling.abort())
      await expect(joining).rejects.toMatchObject({ code: 'closed' })
      if (call === 'join') expect(left).toEqual([])
      respond()
      await expect.poll(() => left).toEqual(['m'])
    },
  )

  it.each(['join', 'sync'] as const)('can be closed during a later %s', async (call) => {
    const coordinator = slowCoordinator({ join: false, sync: false })
    const member = await coordinator.open()
    coordinator.isSlow[call] = true
    member.rejoin('test')
    await new Promise(setImmediate)
    await member.close()
    expect(coordinator.left).toEqual(['m'])
    coordinator.respond()
  })
})

/** Joins a group as its only member, with a backend that implements group calls only. */
async function joined(
  calls: Pick<BrokerBackend, 'heartbeat'>,
  options: { readonly sessionTimeoutMs?: number; readonly instanceId?: string } = {},
) {
  const clock = new FakeClock()
  const events: string[] = []
  const left: unknown[] = []
  let generation = 0
  const backend = {
    joinGroup: async () => ({ generation: ++generation, memberId: 'm', leaderId: 'm', protocol: 'p', members: [] }),
    syncGroup: async () => new Uint8Array(0),
    leaveGroup: async (request: unknown) => void left.push(request),
    ...calls,
  } as unknown as BrokerBackend
  const member = await openGroupMembership(
    { backend: backend, clock, logger: silentLogger(), onClose: () => undefined },
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
