import { connector, subject } from './objects.ts'
import type { Place } from './place.ts'

export const CHANGES = 100

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
