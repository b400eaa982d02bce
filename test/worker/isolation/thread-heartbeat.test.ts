import { expect, it } from 'vitest'
import { ThreadHeartbeat } from '../../../src/worker/isolation/thread-heartbeat.ts'

/** The results of checks every 100 ms with a limit of 250 ms; `beats` says before which checks the thread was alive. */
function checks(heartbeat: ThreadHeartbeat, beats: readonly boolean[]): readonly boolean[] {
  const counter = new Int32Array(heartbeat.buffer)
  return beats.map((beat) => {
    if (beat) counter[0]! += 1
    return heartbeat.isBlocked(250, 100)
  })
}

it('finds a thread blocked once, when it has made no progress for the limit', () => {
  expect(checks(new ThreadHeartbeat(), [true, false, false, false, false])).toEqual([false, false, false, true, false])
})

it('counts again from the next heartbeat', () => {
  expect(checks(new ThreadHeartbeat(), [true, false, false, true, false, false, false])).toEqual([
    ...Array.from({ length: 6 }, () => false),
    true,
  ])
})

it('finds no thread blocked that is still starting', () => {
  const heartbeat = new ThreadHeartbeat()
  expect(checks(heartbeat, [false, false, false, false])).not.toContain(true)
  expect(heartbeat.isReady).toBe(false)
})
