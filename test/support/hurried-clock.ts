import { type Clock, systemClock } from '../../src/common/clock.ts'

/** Runs 20 times as fast as the system's clock: a topic is considered deleted only after seconds. */
export const hurriedClock: Clock = {
  nowMs: systemClock.nowMs,
  monotonicMs: () => 20 * systemClock.monotonicMs(),
  sleep: (ms, signal) => systemClock.sleep(ms / 20, signal),
}
