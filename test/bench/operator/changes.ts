import { setTimeout as delay } from 'node:timers/promises'
import { countOf } from './calls.ts'
import { connector, subject } from './objects.ts'
import type { Place } from './place.ts'
import type { World } from './world.ts'

export const CHANGES = 100
/** Interval in which the operator must send no Event to be idle. */
const SETTLE_MS = 5_000
/** The operator delays each Event for at most two minutes, and needs a few minutes for those of 50,000 resources. */
const SETTLE_MS_MAX = 600_000

/** Times from a change of a resource until it is Ready again. */
export type ChangeTimes = { readonly p50Ms: number; readonly p99Ms: number }

/** Changes resources sequentially: alternately a new version of a Subject and a new Connector. */
export async function measureChanges(place: Place, objects: number): Promise<ChangeTimes> {
  const times: number[] = []
  for (let number = 0; number < CHANGES; number++) {
    const changed = number % 2 === 0 ? subject(number, 'added') : connector(objects + number - 1)
    times.push(await place.timeToReady(changed))
  }
  times.sort((left, right) => left - right)
  return { p50Ms: times[Math.ceil(CHANGES * 0.5) - 1]!, p99Ms: times[Math.ceil(CHANGES * 0.99) - 1]! }
}

/** The operator delays Events while it writes statuses. */
export async function untilEventsAreSent(world: World): Promise<void> {
  const deadlineMs = performance.now() + SETTLE_MS_MAX
  for (;;) {
    const spent = await world.spending()
    await delay(SETTLE_MS)
    const events = countOf((await spent()).api, /events$/)
    if (events === 0) return
    if (performance.now() > deadlineMs) throw new Error(`${events} Events in ${SETTLE_MS} ms, although nothing changes`)
  }
}
