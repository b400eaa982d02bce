import type { Clock } from '../../../common/clock.ts'
import { messageOf } from '../../../common/errors.ts'
import { backoffMs } from '../../../common/retry.ts'
import { withTimeout } from '../../../common/timeout.ts'
import { isHostLost } from '../../../java/host-error.ts'
import type { HostLease } from '../../../java/java-host-pool.ts'
import { taskKey } from '../../model/task-key.ts'
import { countersIn, type TaskCounters } from '../../tasks/task-counters.ts'
import type { RunningTask, TaskHost, TaskMessage, TaskSpec } from '../../tasks/task-spec.ts'

export type JavaTaskHostOptions = {
  /** Runs the tasks themselves. */
  readonly tasks: TaskHost
  /** The paths of the locations whose hosts a task needs. */
  readonly locationsOf: (spec: TaskSpec) => readonly string[]
  readonly lease: (location: string) => Promise<HostLease>
  readonly clock: Clock
  readonly random?: () => number
}

const BACKOFF = { firstMs: 1_000, maxMs: 60_000 }
/** The restart delay is reset after a task has run for this time, in ms. */
const STABLE_MS = 300_000
/** How long to wait for the exit reason of a JVM after its tasks have failed, in ms. */
const EXIT_MS_MAX = 2_000

/** Starts of a task in JVMs that ended. */
type Losses = { readonly count: number; readonly lastMs: number }

/**
 * Keeps the JVMs running that tasks need. When one ends, its tasks fail with the reason, and are restarted in another
 * JVM after a delay that grows with each loss.
 */
export class JavaTaskHost implements TaskHost {
  readonly #options: JavaTaskHostOptions
  readonly #losses = new Map<string, Losses>()

  constructor(options: JavaTaskHostOptions) {
    this.#options = options
  }

  start(spec: TaskSpec, report: (message: TaskMessage) => void): RunningTask {
    const locations = this.#options.locationsOf(spec)
    if (locations.length === 0) return this.#options.tasks.start(spec, report)
    const onLost = () => this.#delayAfterLoss(taskKey(spec))
    return new JavaTask(this.#options, spec, locations, report, onLost)
  }

  /** The delay before the restart of a task that lost its JVM now, in ms. */
  #delayAfterLoss(key: string): number {
    const { clock, random } = this.#options
    const nowMs = clock.monotonicMs()
    const last = this.#losses.get(key)
    const count = last === undefined || nowMs - last.lastMs > STABLE_MS ? 0 : last.count
    this.#losses.set(key, { count: count + 1, lastMs: nowMs })
    return backoffMs(BACKOFF, count, random)
  }
}

class JavaTask implements RunningTask {
  readonly #options: JavaTaskHostOptions
  readonly #spec: TaskSpec
  readonly #report: (message: TaskMessage) => void
  readonly #onLost: () => number
  readonly #stopping = new AbortController()
  readonly #started: Promise<RunningTask | undefined>
  #running: RunningTask | undefined
  #leases: readonly HostLease[] = []
  #isPaused: boolean
  /** Set when the task has failed. What it reports afterwards is a consequence of that. */
  #hasFailed = false

  constructor(
    options: JavaTaskHostOptions,
    spec: TaskSpec,
    locations: readonly string[],
    report: (message: TaskMessage) => void,
    onLost: () => number,
  ) {
    this.#options = options
    this.#spec = spec
    this.#report = report
    this.#onLost = onLost
    this.#isPaused = spec.paused
    this.#started = this.#start(locations)
  }

  pause(): void {
    this.#isPaused = true
    this.#running?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#running?.resume()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await (await this.#started)?.stop()
    this.#release()
  }

  cancel(): void {
    this.#stopping.abort()
    this.#running?.cancel()
    this.#release()
  }

  counters(): TaskCounters {
    return this.#running?.counters() ?? countersIn()
  }

  async #start(locations: readonly string[]): Promise<RunningTask | undefined> {
    const { lease, tasks } = this.#options
    const leases = await Promise.allSettled(locations.map(lease))
    this.#leases = leases.flatMap((settled) => (settled.status === 'fulfilled' ? [settled.value] : []))
    const failed = leases.find((settled) => settled.status === 'rejected')
    if (failed !== undefined || this.#stopping.signal.aborted) {
      this.#release()
      if (failed !== undefined) this.#send({ type: 'failed', trace: messageOf(failed.reason) })
      return undefined
    }
    for (const [index, { ended }] of this.#leases.entries()) {
      void ended.then((how) => this.#hostEnded(locations[index]!, how))
    }
    this.#running = tasks.start({ ...this.#spec, paused: this.#isPaused }, (message) => void this.#onMessage(message))
    return this.#running
  }

  /** If a task fails because its JVM has exited, waits for the exit reason before reporting the failure. */
  async #onMessage(message: TaskMessage): Promise<void> {
    if (message.type === 'failed' && isHostLost(message.trace)) {
      const ended = Promise.race(this.#leases.map((lease) => lease.ended))
      await withTimeout(ended, EXIT_MS_MAX, () => undefined, this.#options.clock)
    }
    if (this.#hasFailed) return
    this.#send(message)
    if (message.type !== 'failed') return
    this.#hasFailed = true
    this.#release()
  }

  async #hostEnded(location: string, how: string): Promise<void> {
    if (this.#hasFailed || this.#stopping.signal.aborted) return
    this.#hasFailed = true
    const { clock } = this.#options
    const sentence = `the Java host of ${location} ${how}`
    this.#send({ type: 'failed', trace: `task ${taskKey(this.#spec)} failed: ${sentence}` })
    const waitMs = this.#onLost()
    const stopped = this.#running?.stop()
    this.#release()
    await Promise.all([stopped, clock.sleep(waitMs, this.#stopping.signal).catch(() => undefined)])
    this.#send({ type: 'interrupted', reason: sentence })
  }

  #send(message: TaskMessage): void {
    if (!this.#stopping.signal.aborted) this.#report(message)
  }

  #release(): void {
    for (const lease of this.#leases) lease.release()
  }
}
