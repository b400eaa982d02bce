import { availableParallelism } from 'node:os'
import { median } from './figures.ts'

/** Wall-clock time of the calculation on the machine for which limits were chosen: 2 cores of an EPYC, not busy. */
const REFERENCE_MS = 100
const REPEATS = 5
const OBJECTS = 22_000
const ROUNDS = 5

/** The time of a fixed calculation on this machine, in ms. */
export type Calibration = { readonly wallMs: number; readonly cpuMs: number }

/**
 * Measures a fixed calculation, in JavaScript as the programs are: objects, strings, JSON and a map. Quantities that depend
 * on the speed of the machine and have no peer are compared with it.
 */
export function calibrate(): Calibration {
  calculate()
  const runs = Array.from({ length: REPEATS }, () => {
    const startMs = performance.now()
    const start = process.cpuUsage()
    calculate()
    const { user, system } = process.cpuUsage(start)
    return { wallMs: performance.now() - startMs, cpuMs: (user + system) / 1_000 }
  })
  return { wallMs: median(runs.map(({ wallMs }) => wallMs)), cpuMs: median(runs.map(({ cpuMs }) => cpuMs)) }
}

/** How many times slower this machine is, now, than the one for which limits of time were chosen; at least 1. */
export function slowness(): number {
  const cores = 2 / Math.min(2, availableParallelism())
  return Math.max(1, (calibrate().wallMs / REFERENCE_MS) * cores)
}

/** Returns a number that depends on all steps, so that none of them can be left out. */
function calculate(): number {
  let sum = 0
  for (let round = 0; round < ROUNDS; round++) {
    const rows = Array.from({ length: OBJECTS }, (_, id) => ({ id, name: `row-${id * 7}`, tags: [id % 3, id % 5] }))
    const byName = new Map((JSON.parse(JSON.stringify(rows)) as typeof rows).map((row) => [row.name, row]))
    for (const { name } of rows) sum += byName.get(name)!.tags[1]!
  }
  return sum
}
