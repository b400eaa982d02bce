import { describe, expect, it } from 'vitest'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { joinAfterForeignMembers } from '../../../src/worker/membership/foreign-members.ts'
import { FakeClock } from '../../support/fake-clock.ts'

describe('joining a group with members of another kind', () => {
  it('succeeds when their sessions have ended', async () => {
    const { clock, joining, attempts } = join({ refusals: 3 })
    await clock.advance(3_000)
    expect(await joining).toBe('member')
    expect(attempts()).toBe(4)
  })

  it('is rejected when they are still there after the time of a session', async () => {
    const { clock, joining } = join({ refusals: Number.POSITIVE_INFINITY })
    const rejected = expect(joining).rejects.toMatchObject({
      code: 'group_taken',
      message: expect.stringContaining("the group 'workers' has live workers of another kind"),
    })
    await clock.advance(11_000)
    let isSettled = false
    void joining
      .catch(() => undefined)
      .finally(() => {
        isSettled = true
      })
    await clock.advance(0)
    expect(isSettled).toBe(false)
    await clock.advance(1_000)
    await rejected
  })

  it('is rejected at once for another reason', async () => {
    const { joining, attempts } = join({ refusals: 1, code: 'not_authorized' })
    await expect(joining).rejects.toMatchObject({ code: 'not_authorized' })
    expect(attempts()).toBe(1)
  })

  it('ends when the worker is stopped', async () => {
    const { clock, joining, stop } = join({ refusals: Number.POSITIVE_INFINITY })
    const rejected = expect(joining).rejects.toThrow()
    await clock.advance(500)
    stop()
    await rejected
  })
})

function join({
  refusals,
  code = 'inconsistent_group',
}: {
  readonly refusals: number
  readonly code?: 'inconsistent_group' | 'not_authorized'
}) {
  const clock = new FakeClock()
  const stopping = new AbortController()
  let attempts = 0
  const joining = joinAfterForeignMembers(
    async () => {
      attempts += 1
      if (attempts <= refusals) throw new BrokerError(code, 'rejected by the coordinator')
      return 'member'
    },
    { groupId: 'workers', sessionTimeoutMs: 10_000, clock, logger: silentLogger(), signal: stopping.signal },
  )
  return { clock, joining, attempts: () => attempts, stop: () => stopping.abort() }
}
