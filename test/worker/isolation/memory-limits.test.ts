import { describe, expect, it } from 'vitest'
import { ResidentLimit } from '../../../src/worker/isolation/memory-limits.ts'

const MB = 1024 * 1024

describe('ResidentLimit', () => {
  it('is relative to the first measurement, plus an allowance for the engine', () => {
    expect(exceeded(128, [300, 300 + 128 + 95, 300 + 128 + 95])).toBe(undefined)
    expect(exceeded(128, [300, 300 + 128 + 97, 300 + 128 + 97])).toBe(2)
  })

  it('tolerates a single measurement above the limit, because garbage may cause it', () => {
    expect(exceeded(128, [100, 400, 200, 400, 200])).toBe(undefined)
    expect(exceeded(128, [100, 400, 400])).toBe(2)
  })

  it('is exceeded by a single measurement far above the limit', () => {
    expect(exceeded(128, [100, 500])).toBe(1)
  })
})

/** At which of these measurements, in MB, the limit is exceeded. */
function exceeded(mbMax: number, measured: readonly number[]): number | undefined {
  const limit = new ResidentLimit(mbMax)
  const at = measured.findIndex((mb) => limit.isExceeded(mb * MB))
  return at === -1 ? undefined : at
}
