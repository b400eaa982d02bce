import { setTimeout as sleep } from 'node:timers/promises'
import { forgetProcess, watchProcess } from '../env/workspace.ts'
import { type Program, responds, startWeir } from '../support/cli.ts'
import { descendantsOf, isGone } from '../support/process-tree.ts'
import type { ProgramClock } from './program-clock.ts'

const STOP_GRACE_MS = 30_000
const PAUSE_BEFORE_START_MS = 500

export type ProgramArgs = readonly [program: string, ...rest: string[]]

/** A program of Weir at one address, which is started again when it exits, as Kubernetes or systemd do. */
export class SupervisedProgram {
  readonly name: string
  readonly url: string
  readonly clock: ProgramClock
  /** Exits that no fault of the schedule explains. */
  readonly findings: string[] = []
  readonly logFiles: string[] = []
  readonly #args: ProgramArgs
  #program: Program | undefined
  #isWanted = true
  #frozen: readonly number[] = []

  constructor(name: string, url: string, args: ProgramArgs, clock: ProgramClock) {
    this.name = name
    this.url = url
    this.clock = clock
    this.#args = args
  }

  /** Starts it, as often as it takes. It may exit at its start while brokers are unavailable. */
  async start(): Promise<void> {
    this.#isWanted = true
    while (this.#isWanted && this.#program === undefined) {
      try {
        const isUp = (logFile: string) => {
          if (this.logFiles.at(-1) !== logFile) this.logFiles.push(logFile)
          return responds(`${this.url}/healthz`)
        }
        this.#program = await startWeir(this.#args, isUp, { env: this.clock.env })
      } catch {
        await sleep(PAUSE_BEFORE_START_MS)
      }
    }
    if (!this.#isWanted) await this.kill()
  }

  /** Starts it again if it has exited by itself, and records that. */
  async supervise(): Promise<void> {
    if (this.#program === undefined || !isGone(this.#program.pid!)) return
    this.findings.push(`${this.name} has exited by itself`)
    this.#program = undefined
    await this.start()
  }

  async kill(): Promise<void> {
    await this.#end((program) => program.kill())
  }

  async terminate(): Promise<void> {
    await this.#end(async (program) => {
      const code = await program.terminate(STOP_GRACE_MS)
      if (code !== 0)
        this.findings.push(`${this.name} ended with ${code ?? `SIGKILL, ${STOP_GRACE_MS} ms`} after SIGTERM`)
    })
  }

  /** Freezes it and all processes that it has started. */
  freeze(): void {
    const pid = this.#program?.pid
    if (pid === undefined || isGone(pid)) return
    this.#frozen = [pid, ...descendantsOf(pid)]
    for (const one of this.#frozen) {
      // A frozen process does not notice that its parent has been killed.
      watchProcess(one)
      signalProcess(one, 'SIGSTOP')
    }
  }

  thaw(): void {
    for (const one of this.#frozen) {
      signalProcess(one, 'SIGCONT')
      if (one !== this.#program?.pid) forgetProcess(one)
    }
    this.#frozen = []
  }

  async #end(end: (program: Program) => Promise<unknown>): Promise<void> {
    this.#isWanted = false
    this.thaw()
    const program = this.#program
    this.#program = undefined
    if (program !== undefined) await end(program)
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has exited since.
  }
}
