import { runInProcess } from './current-process.ts'
import type { Simulation } from './simulation.ts'

/** How a wall clock differs from virtual time. */
const START_MS = Date.UTC(2026, 0, 1)

/**
 * A process of the simulated machine room. Its code runs in this one. After a crash none of its timers fires and none of its calls is
 * sent or settles, so that nothing behind the `await` at which it crashed has an effect.
 */
export class SimulatedProcess {
  readonly name: string
  /** Where it runs: what cannot reach a machine reaches none of its processes. */
  readonly machine: string
  readonly simulation: Simulation
  #isAlive = true
  #skewMs = 0
  #pausedUntilMs = 0
  #pausesMs = 0
  /** What happens at a crash, by who waits for it. */
  readonly #atCrash = new Map<object, () => void>()
  #uncaught: { readonly error: unknown } | undefined

  constructor(name: string, machine: string, simulation: Simulation) {
    this.name = name
    this.machine = machine
    this.simulation = simulation
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  get isPausedUntilMs(): number {
    return this.#pausedUntilMs
  }

  /** How long it was frozen until now. */
  get pausedMs(): number {
    return this.#pausesMs - Math.max(0, this.#pausedUntilMs - this.simulation.nowMs)
  }

  /** What a process would have ended with. The simulation stops with it. */
  get uncaught(): { readonly error: unknown } | undefined {
    return this.#uncaught
  }

  /** The wall clock: milliseconds since the epoch. */
  get wallMs(): number {
    return START_MS + this.simulation.nowMs + this.#skewMs
  }

  run<T>(run: () => T): T {
    return runInProcess(this, run)
  }

  /** Ends it as by SIGKILL. */
  crash(): void {
    if (!this.#isAlive) return
    this.#isAlive = false
    this.simulation.note(this.name, 'crashes')
    for (const run of this.#atCrash.values()) run()
    this.#atCrash.clear()
  }

  /** Ends it with the history. */
  end(): void {
    this.#isAlive = false
    this.#atCrash.clear()
  }

  /** Calls `run` at a crash, unless `forget` is called with the same key before. */
  onCrash(key: object, run: () => void): void {
    this.#atCrash.set(key, run)
  }

  forget(key: object): void {
    this.#atCrash.delete(key)
  }

  /** Stops it as by SIGSTOP, for `ms`: its events happen late, and the requests to it are answered late. */
  pause(ms: number): void {
    const { nowMs } = this.simulation
    const untilMs = Math.max(this.#pausedUntilMs, nowMs + ms)
    this.#pausesMs += untilMs - Math.max(this.#pausedUntilMs, nowMs)
    this.#pausedUntilMs = untilMs
    this.simulation.note(this.name, `is frozen for ${ms} ms`)
  }

  /** Moves its wall clock, and not its monotonic clock. */
  skew(ms: number): void {
    this.#skewMs += ms
    this.simulation.note(this.name, `has its clock moved by ${ms} ms`)
  }

  /** Records an error that its code did not catch. */
  fail(error: unknown): void {
    if (this.#isAlive) this.#uncaught ??= { error }
  }
}
