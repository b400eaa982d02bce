import { describe, expect, it } from 'vitest'
import { LoginRateLimiter, networkOf } from '../../src/http/login-rate-limiter.ts'

function limits() {
  const time = { nowMs: 0 }
  const limited = new LoginRateLimiter(() => time.nowMs)
  const fail = (address: string, name: string, times = 1) => {
    for (let i = 0; i < times; i++) limited.begin(address, name)
  }
  return { time, limited, fail }
}

describe('login limits', () => {
  it('count attempts from their beginning, by name and address', () => {
    const { limited, fail } = limits()
    fail('10.0.0.9', 'ada', 10)
    expect(limited.waitSeconds('10.0.0.9', 'ada')).toBe(60)
    expect([limited.waitSeconds('10.0.0.9', 'bob'), limited.waitSeconds('10.0.0.8', 'ada')]).toEqual([0, 0])
  })

  it('end after a minute', () => {
    const { limited, fail, time } = limits()
    fail('10.0.0.9', 'ada', 10)
    time.nowMs = 59_999
    expect(limited.waitSeconds('10.0.0.9', 'ada')).toBe(1)
    time.nowMs = 60_000
    expect(limited.waitSeconds('10.0.0.9', 'ada')).toBe(0)
  })

  it('do not count an attempt that succeeded', () => {
    const { limited, fail } = limits()
    fail('10.0.0.9', 'ada', 9)
    limited.begin('10.0.0.9', 'ada')()
    expect(limited.waitSeconds('10.0.0.9', 'ada')).toBe(0)
  })

  it('allow a client that tries many user names one attempt for each, without affecting other users of the address', () => {
    const { limited, fail } = limits()
    for (let i = 0; i < 25; i++) fail('10.0.0.9', `user${i}`, 2)
    fail('10.0.0.9', 'ada')
    expect(limited.waitSeconds('10.0.0.9', 'ada')).toBe(60)
    expect(limited.waitSeconds('10.0.0.9', 'bob')).toBe(0)
    expect(limited.waitSeconds('10.0.0.8', 'user1')).toBe(0)
  })

  it('keep a bounded number of user names, and are not reset by further ones', () => {
    const { limited, fail, time } = limits()
    fail('10.0.0.9', 'ada', 10)
    for (let i = 0; i < 20_000; i++) if (limited.waitSeconds(`a${i}`, 'x') === 0) fail(`a${i}`, 'x')
    expect(limited.waitSeconds('10.0.0.9', 'ada')).toBe(60)
    expect(limited.waitSeconds('10.0.0.7', 'new')).toBe(1)
    time.nowMs = 60_000
    expect(limited.waitSeconds('10.0.0.7', 'new')).toBe(0)
  })

  it('forget attempts that were undone: requests that need no hashing cannot fill the table', () => {
    const { limited } = limits()
    for (let i = 0; i < 20_000; i++) limited.begin('10.0.0.9', `user${i}`)()
    expect(limited.waitSeconds('10.0.0.7', 'ada')).toBe(0)
  })

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('count %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})
