import type { SeededRandom } from '../support/seeded-random.ts'
import type { Simulation } from './simulation.ts'

/** Something that a history does at a moment: a request of a user, or a fault. As JSON, so that a history can be told. */
export type Step = { readonly atMs: number; readonly do: string } & Readonly<Record<string, unknown>>

/** A promise that a history broke. */
export class Violation extends Error {}

/**
 * Programs in a simulated machine room, what is done to them, and the promises that are checked.
 */
export type World = {
  readonly name: string
  /** What happens, as a function of the random numbers. In the order of time. */
  plan(random: SeededRandom): readonly Step[]
  /**
   * Starts the programs, carries out the steps, and checks the promises, while the history runs and at its end. Rejects with a
   * `Violation`. It must work for any part of the steps.
   */
  run(simulation: Simulation, steps: readonly Step[]): Promise<void>
}

/** Throws a `Violation` if the promise does not hold. */
export function promise(holds: boolean, what: () => string): void {
  if (!holds) throw new Violation(what())
}
