import { describe, expect, it, onTestFinished } from 'vitest'
import type { GroupProtocol } from '../../../src/broker/broker.ts'
import type { BrokerBackend } from '../../../src/broker/broker-backend.ts'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { RETRY_BACKOFF } from '../../../src/broker/client-settings.ts'
import { openGroupMembership } from '../../../src/broker/consumer/group-membership.ts'
import { createLogger, silentLogger } from '../../../src/common/logging/logger.ts'
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

const DENIED = new BrokerError('not_authorized', 'READ on group g')

describe('group member that rejoins', () => {
  it('loses its membership after the session timeout when it cannot join again', async () => {
    const { clock, events, isDenied, rejoin } = await joined({ heartbeat: async () => undefined })
    isDenied.join = true
    rejoin()
    await clock.advance(0)
    isDenied.heartbeat = true
    await clock.advance(SESSION_MS - 1)
    expect(events).toEqual(['joined 1'])
    await clock.advance(HEARTBEAT_MS)
    expect(events).toEqual(['joined 1', 'lost'])
    isDenied.join = false
    await clock.advance(SESSION_MS)
    expect(events).toEqual(['joined 1', 'lost', 'joined 2'])
  })

  it('keeps its session while the coordinator waits for another member', async () => {
    const { clock, events, hold, rejoin } = await joined({
      heartbeat: async () => {
        throw new BrokerError('rebalance_in_progress', 'waiting')
      },
    })
    const release = hold()
    rejoin()
    await clock.advance(10 * SESSION_MS)
    expect(events).toEqual(['joined 1'])
    release()
    await clock.advance(0)
    expect(events).toEqual(['joined 1', 'joined 2'])
  })

  it('joins once more when it lost its membership meanwhile, because it has announced work that it no longer does', async () => {
    const { clock, events, isDenied, hold, rejoin } = await joined({ heartbeat: async () => undefined })
    const release = hold()
    rejoin()
    await clock.advance(0)
    isDenied.heartbeat = true
    await clock.advance(SESSION_MS + HEARTBEAT_MS)
    expect(events).toEqual(['joined 1', 'lost'])
    isDenied.heartbeat = false
    release()
    await clock.advance(0)
    expect(events).toEqual(['joined 1', 'lost', 'joined 2', 'joined 3'])
  })

  it('is not watched when it has ended its work before it rejoins', async () => {
    const { clock, events, isDenied, rejoin } = await joined(
      { heartbeat: async () => undefined },
      {},
      { onRevoked: () => void events.push('revoked') },
    )
    isDenied.join = true
    isDenied.heartbeat = true
    rejoin()
    await clock.advance(10 * SESSION_MS)
    expect(events).toEqual(['joined 1', 'revoked'])
  })

  it.each(['not_authorized', 'inconsistent_group'] as const)(
    'ends if it is rejected (%s) and its user wants to know',
    async (code) => {
      const { clock, events, isDenied, rejoin, close, left } = await joined(
        { heartbeat: async () => undefined },
        {},
        { onRevoked: () => undefined, onRejected: (error) => void events.push(`rejected: ${error.message}`) },
      )
      isDenied.join = new BrokerError(code, 'READ on group g')
      rejoin()
      await clock.advance(0)
      isDenied.join = false
      await clock.advance(10 * SESSION_MS)
      expect(events).toEqual(['joined 1', 'rejected: READ on group g'])
      await close()
      expect(left).toEqual([])
    },
  )

  it('logs once why it cannot join, however often it tries', async () => {
    const { clock, logged, isDenied, rejoin } = await joined({ heartbeat: async () => undefined })
    const attempts = () =>
      logged()
        .filter(({ msg }) => msg.startsWith('cannot join'))
        .map(({ err }) => err?.message)
    isDenied.join = true
    rejoin()
    await clock.advance(SESSION_MS)
    expect(attempts()).toEqual([DENIED.message])
    isDenied.join = new BrokerError('unavailable', 'down')
    await clock.advance(SESSION_MS)
    expect(attempts()).toEqual([DENIED.message, 'down'])
    isDenied.join = false
    await clock.advance(SESSION_MS)
    isDenied.join = true
    rejoin()
    await clock.advance(SESSION_MS)
    expect(attempts()).toEqual([DENIED.message, 'down', DENIED.message])
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
      {
        backend,
        clock: new FakeClock(),
        logger: silentLogger(),
        defaults: { retryBackoff: RETRY_BACKOFF },
        onClose: () => undefined,
      },
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
  callbacks: Partial<GroupProtocol> = {},
) {
  const clock = new FakeClock()
  const events: string[] = []
  const left: unknown[] = []
  const lines: string[] = []
  const isDenied: { join: boolean | BrokerError; heartbeat: boolean } = { join: false, heartbeat: false }
  let held: Promise<void> | undefined
  let generation = 0
  const backend = {
    joinGroup: async () => {
      await held
      if (isDenied.join) throw isDenied.join === true ? DENIED : isDenied.join
      return { generation: ++generation, memberId: 'm', leaderId: 'm', protocol: 'p', members: [] }
    },
    syncGroup: async () => new Uint8Array(0),
    leaveGroup: async (request: unknown) => void left.push(request),
    heartbeat: async (request: never) => {
      if (isDenied.heartbeat) throw DENIED
      return calls.heartbeat(request)
    },
  } as unknown as BrokerBackend
  const member = await openGroupMembership(
    {
      backend,
      clock,
      logger: createLogger({ level: 'debug', write: (line) => void lines.push(line) }),
      defaults: { retryBackoff: RETRY_BACKOFF },
      onClose: () => undefined,
    },
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
        ...callbacks,
      },
    },
  )
  const close = () => member.close()
  onTestFinished(close)
  /** Holds back the responses to joins until the returned function is called. */
  const hold = () => {
    const released = Promise.withResolvers<void>()
    held = released.promise
    return () => {
      held = undefined
      released.resolve()
    }
  }
  const logged = () => lines.map((line) => JSON.parse(line) as { msg: string; err?: { message: string } })
  return { clock, events, left, close, isDenied, hold, rejoin: () => member.rejoin('test'), logged }
}
