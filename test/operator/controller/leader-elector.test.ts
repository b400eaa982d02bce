import { beforeEach, describe, expect, it } from 'vitest'
import { ClusterError } from '../../../src/clients/kubernetes/cluster-error.ts'
import { ApiError } from '../../../src/clients/kubernetes/kubernetes-api.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import {
  LeaderElector,
  type Lease,
  type LeaseLock,
  type VersionedLease,
} from '../../../src/operator/controller/leader-elector.ts'
import { type Fence, NotLeaderError, writeFenced } from '../../../src/operator/controller/leader-fence.ts'
import { FakeClock } from '../../support/fake-clock.ts'

let clock: FakeClock
let stored: VersionedLease | undefined
let writes: string[]

beforeEach(() => {
  clock = new FakeClock()
  stored = undefined
  writes = []
})

/** The connection of a candidate. With `lost response`, the call is executed but its response is lost. */
type Link = { state: 'up' | 'down' | 'forbidden' | 'lost response' | 'hanging'; delayMs?: number }

function leaseLockOver(link: Link): LeaseLock {
  const through = async <T>(call: () => T, signal: AbortSignal): Promise<T> => {
    if (link.state === 'down') throw new Error('unreachable')
    if (link.state === 'forbidden') throw new ClusterError('forbidden', 'leases is forbidden')
    if (link.state === 'hanging') {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    const answer = call()
    if (link.delayMs !== undefined) await clock.sleep(link.delayMs, signal)
    if (link.state === 'lost response') throw new Error('the connection broke')
    return answer
  }
  return {
    name: 'memory',
    read: (signal) => through(() => stored, signal),
    write: (lease: Lease, version, signal) =>
      through(() => {
        if (version !== stored?.version) return undefined
        stored = { lease, version: String(Number(version ?? 0) + 1) }
        writes.push(lease.holder)
        return stored
      }, signal),
  }
}

function candidate(identity: string, own = clock) {
  const link: Link = { state: 'up' }
  const terms: { fence: Fence; ended: boolean }[] = []
  let ending = async () => {}
  const elector = new LeaderElector({
    lock: leaseLockOver(link),
    identity,
    clock: own,
    logger: silentLogger(),
    random: () => 0.5,
    onStartedLeading(fence) {
      const term = { fence, ended: false }
      terms.push(term)
      return {
        async stop() {
          await ending()
          term.ended = true
        },
      }
    },
  })
  elector.start()
  return {
    elector,
    link,
    terms,
    /** Whether the candidate may begin an operation of this duration. */
    acts(ms = 0): boolean {
      const term = terms.at(-1)
      if (term === undefined || term.ended) return false
      try {
        term.fence.assertFor(ms)
        return true
      } catch (error) {
        expect(error).toBeInstanceOf(NotLeaderError)
        return false
      }
    },
    endsWhen(ended: () => Promise<void>) {
      ending = ended
    },
  }
}

describe('LeaderElector', () => {
  it('elects one leader, which keeps the lease', async () => {
    const [a, b] = [candidate('a'), candidate('b')]
    await clock.advance(120_000)
    expect([a, b].map(({ elector }) => elector.isLeader).sort()).toEqual([false, true])
    expect(a.terms.length + b.terms.length).toBe(1)
    expect(stored?.lease).toMatchObject({ durationMs: 15_000, transitions: 0 })
    await Promise.all([a.elector.stop(), b.elector.stop()])
  })

  it('reports a missing permission until it is granted', async () => {
    const a = candidate('a')
    a.link.state = 'forbidden'
    await clock.advance(5_000)
    expect([a.elector.isForbidden, a.elector.isLeader]).toEqual([true, false])
    a.link.state = 'up'
    await clock.advance(5_000)
    expect([a.elector.isForbidden, a.elector.isLeader]).toEqual([false, true])
    await a.elector.stop()
  })

  it('elects another process as soon as the leader has released the lease', async () => {
    const a = candidate('a')
    await clock.advance(0)
    const b = candidate('b')
    await clock.advance(5_000)
    await a.elector.stop()
    expect([a.terms[0]?.ended, stored?.lease.holder]).toEqual([true, ''])
    // The next attempt.
    await clock.advance(2_000)
    expect([a.acts(), b.acts()]).toEqual([false, true])
    expect(stored?.lease.transitions).toBe(1)
    await b.elector.stop()
  })

  it('leaves the lease to expire when a write of the leader got no response and may still take effect', async () => {
    const a = candidate('a')
    await clock.advance(0)
    const b = candidate('b')
    await clock.advance(5_000)
    const write = (fail: () => Promise<never>) =>
      writeFenced(a.terms[0]!.fence, 10_000, fail).catch((error: unknown) => error)
    await write(() => Promise.reject(new ApiError(409, 'Conflict', 'the response is known')))
    await write(() => Promise.reject(new ApiError(0, 'Unreachable', 'the connection broke')))
    await a.elector.stop()
    await clock.advance(10_000)
    expect([stored?.lease.holder, b.acts()]).toEqual(['a', false])
    await clock.advance(10_000)
    expect([stored?.lease.holder, b.acts()]).toEqual(['b', true])
    await b.elector.stop()
  })

  it('renews the lease while the leader stops, and releases it afterwards', async () => {
    const a = candidate('a')
    await clock.advance(0)
    let end = () => {}
    a.endsWhen(() => new Promise((resolve) => (end = resolve)))
    const stopping = a.elector.stop()
    await clock.advance(20_000)
    expect([a.acts(10_000), stored?.lease.holder]).toEqual([true, 'a'])
    end()
    await stopping
    expect(writes.at(-1)).toBe('')
  })

  it.each(['down', 'hanging'] as const)(
    'elects another process when the connection of the leader is %s, and the fence never allows writes of both',
    async (state) => {
      const a = candidate('a')
      await clock.advance(0)
      const b = candidate('b')
      await clock.advance(30_000)
      a.link.state = state
      let handedOverMs: number | undefined
      for (let ms = 0; ms < 40_000; ms += 100) {
        await clock.advance(100)
        expect(a.acts() && b.acts()).toBe(false)
        // A request takes up to ten seconds.
        if (a.acts(10_000)) expect(ms).toBeLessThanOrEqual(7_000)
        if (b.acts()) handedOverMs ??= ms
      }
      expect(handedOverMs).toBeGreaterThanOrEqual(13_000)
      expect(handedOverMs).toBeLessThan(20_000)
      expect(a.terms[0]).toMatchObject({ ended: true, fence: { signal: { aborted: true } } })
      a.link.state = 'up'
      await clock.advance(30_000)
      expect([a.acts(), b.acts()]).toEqual([false, true])
      await Promise.all([a.elector.stop(), b.elector.stop()])
    },
  )

  it('keeps leading when the response to a renewal is lost, or the API server is unavailable for less than 10 s', async () => {
    const a = candidate('a')
    await clock.advance(0)
    a.link.state = 'lost response'
    await clock.advance(2_500)
    a.link.state = 'down'
    await clock.advance(5_000)
    a.link.state = 'up'
    await clock.advance(30_000)
    expect([a.terms.length, a.acts(10_000)]).toEqual([1, true])
    await a.elector.stop()
  })

  it('stops leading at once when another process takes over the lease', async () => {
    const a = candidate('a')
    await clock.advance(0)
    stored = { lease: { ...stored!.lease, holder: 'by force' }, version: '77' }
    await clock.advance(2_000)
    expect(a.acts()).toBe(false)
    expect(writes.at(-1)).toBe('a')
    await a.elector.stop()
    expect(stored.lease.holder).toBe('by force')
  })

  it.each([
    ['set forward by a minute', 60_000, false],
    ['set back by a minute', -60_000, true],
  ])('measures the age of its lease by the clock that advanced further: wall clock %s', async (_, jumpMs, sure) => {
    const a = candidate('a')
    await clock.advance(3_000)
    clock.jump(jumpMs)
    expect(a.acts(10_000)).toBe(sure)
    a.link.state = 'down'
    await clock.advance(14_000)
    expect(a.acts()).toBe(false)
    a.link.state = 'up'
    await clock.advance(20_000)
    expect(a.acts(10_000)).toBe(true)
    await a.elector.stop()
  })

  it('measures the lease from the time when the renewal was sent', async () => {
    const a = candidate('a')
    await clock.advance(0)
    // The response is delayed; the other candidates may have seen the renewal when it was sent.
    a.link.delayMs = 6_000
    await clock.advance(2_000 + 6_000)
    expect([a.acts(9_000), a.acts(9_001)]).toEqual([true, false])
    delete a.link.delayMs
    await a.elector.stop()
  })

  it('measures the age of a lease from its observed changes, not from timestamps of other machines', async () => {
    const year = 365 * 86_400_000
    stored = {
      version: '5',
      lease: { holder: 'dead', durationMs: 15_000, transitions: 3, acquiredAt: '2020-01-01T00:00:00Z', renewedAt: '' },
    }
    const b = candidate('b', new FakeClock(Date.UTC(2026, 0, 1) + year))
    // A clock of its own, which this test does not advance.
    await clock.advance(0)
    expect(b.acts()).toBe(false)
    void b.elector.stop()
    const c = candidate('c')
    await clock.advance(14_000)
    expect(c.acts()).toBe(false)
    await clock.advance(4_000)
    expect(c.acts()).toBe(true)
    expect(stored?.lease.transitions).toBe(4)
    await c.elector.stop()
  })
})
