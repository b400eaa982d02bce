import { describe, expect, it } from 'vitest'
import { retryAfterMs } from '../../../src/plugins/connectors/http/retry-after.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const at = (ms: number) => new Date(NOW_MS + ms).toUTCString()

describe('retryAfterMs', () => {
  it.each<[string, string | undefined, string | undefined, number | undefined]>([
    ['a number of seconds', '7', undefined, 7_000],
    ['a fraction of a second', '0.5', undefined, 500],
    ['a date in the future', at(20_000), undefined, 20_000],
    ['a date in the past', at(-20_000), undefined, 0],
    ['a date, and a Date header that is a day behind', at(-86_390_000), at(-86_400_000), 10_000],
    ['a date, and a Date header that is a day ahead', at(86_410_000), at(86_400_000), 10_000],
    ['a date, and an invalid Date header', at(20_000), 'today', 20_000],
    ['a number above the maximum', '86400', undefined, 3_600_000],
    ['a date above the maximum', at(3e12), undefined, 3_600_000],
    ['an invalid value', 'soon', undefined, undefined],
    ['an empty value', ' ', undefined, undefined],
    ['no value', undefined, undefined, undefined],
  ])('reads the Retry-After header with %s', (_, retryAfter, date, waitMs) => {
    const headers = {
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
      ...(date !== undefined && { date }),
    }
    expect(retryAfterMs(headers, NOW_MS)).toBe(waitMs)
  })
})
