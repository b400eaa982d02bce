import { describe, expect, it } from 'vitest'
import { retryAfterMs } from '../../../src/plugins/connectors/http/retry-after.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const at = (ms: number) => new Date(NOW_MS + ms).toUTCString()

describe('how long a server wants to be left alone', () => {
  it.each<[string, string | undefined, string | undefined, number | undefined]>([
    ['in seconds', '7', undefined, 7_000],
    ['in parts of a second', '0.5', undefined, 500],
    ['by a date ahead', at(20_000), undefined, 20_000],
    ['by a date that is over', at(-20_000), undefined, 0],
    ['by a date, its clock a day behind', at(-86_390_000), at(-86_400_000), 10_000],
    ['by a date, its clock a day ahead', at(86_410_000), at(86_400_000), 10_000],
    ['by a date, its own time being nonsense', at(20_000), 'today', 20_000],
    ['for longer than anybody means', '86400', undefined, 3_600_000],
    ['until a year that nobody means', at(3e12), undefined, 3_600_000],
    ['in words', 'soon', undefined, undefined],
    ['with nothing', ' ', undefined, undefined],
    ['not at all', undefined, undefined, undefined],
  ])('is read when it says so %s', (_, retryAfter, date, waitMs) => {
    const headers = {
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
      ...(date !== undefined && { date }),
    }
    expect(retryAfterMs(headers, NOW_MS)).toBe(waitMs)
  })
})
