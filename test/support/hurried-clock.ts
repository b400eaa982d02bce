import { type Clock, systemClock } from '../../src/common/clock.ts'

const FACTOR = 20

/** Runs 20 times as fast as the system's clock: a topic is considered deleted only after seconds. */
export const hurriedClock: Clock = {
  nowMs: systemClock.nowMs,
  monotonicMs: () => FACTOR * systemClock.monotonicMs(),
  sleep: (ms, signal) => systemClock.sleep(ms / FACTOR, signal),
}

/** A clock whose `monotonicMs` runs as fast as the system's clock until `hurry` is called. */
export function lateHurriedClock(): { readonly clock: Clock; readonly hurry: () => void } {
  let hurriedFromMs: number | undefined
  const monotonicMs = () => {
    const nowMs = systemClock.monotonicMs()
    return nowMs + (FACTOR - 1) * (nowMs - (hurriedFromMs ?? nowMs))
  }
  return {
    clock: { ...hurriedClock, monotonicMs },
    hurry: () => {
      hurriedFromMs = systemClock.monotonicMs()
    },
  }
}
