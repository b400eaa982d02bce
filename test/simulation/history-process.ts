import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Failure } from './failure.ts'
import type { Explanation } from './history.ts'
import type { Mutation } from './source-mutation.ts'
import type { TimelineEntry } from './timeline.ts'
import type { Step } from './world.ts'

/** Which world a process runs, and with which fault in the programs. */
export type HistorySource = {
  readonly world: string
  readonly mutation?: Mutation | undefined
  /** The module whose `WORLDS` has the world. */
  readonly table?: string
}

export type HistoryProcessArguments = Required<Pick<HistorySource, 'world' | 'table'>> & Pick<HistorySource, 'mutation'>
export type HistoryRequest = {
  readonly do: 'run' | 'show' | 'explain'
  readonly seed: number
  /** Default: those of the seed. */
  readonly steps?: readonly Step[] | undefined
}
export type HistoryResponse = Outcome | Explanation

export type Outcome = {
  readonly seed: number
  readonly events: number
  readonly digest: string
  readonly cpuMs: number
  readonly failure?: Failure
  /** For `show`. */
  readonly entries?: readonly TimelineEntry[]
}

const MAIN = join(import.meta.dirname, 'history-process-main.ts')
const TABLE = join(import.meta.dirname, 'worlds/worlds.ts')

/** A process that runs histories of one world, one at a time. Histories replace timers and clocks, so they have a process of their own. */
export class HistoryProcess {
  readonly #child: ChildProcess
  readonly #ended: Promise<never>
  #seed: number | undefined

  constructor({ world, mutation, table = TABLE }: HistorySource) {
    const options: HistoryProcessArguments = { world, mutation, table: pathToFileURL(table).href }
    this.#child = fork(MAIN, [JSON.stringify(options)], {
      serialization: 'advanced',
      // Most of what a history creates is garbage before the young generation is full.
      execArgv: ['--min-semi-space-size=64', '--max-semi-space-size=64', '--disable-warning=ExperimentalWarning'],
    })
    this.#ended = once(this.#child, 'exit').then(([code, signal]) => {
      throw new Error(`the process of ${world} ended with ${code ?? signal} in the history of seed ${this.#seed}`)
    })
    this.#ended.catch(() => undefined)
  }

  run(seed: number, steps?: readonly Step[]): Promise<Outcome> {
    return this.#request({ do: 'run', seed, steps }) as Promise<Outcome>
  }

  /** Runs it, and returns its timeline too. */
  show(seed: number): Promise<Outcome> {
    return this.#request({ do: 'show', seed }) as Promise<Outcome>
  }

  explain(seed: number): Promise<Explanation> {
    return this.#request({ do: 'explain', seed }) as Promise<Explanation>
  }

  /** Rejects when the process ends instead of responding. */
  async #request(request: HistoryRequest): Promise<HistoryResponse> {
    const response = once(this.#child, 'message')
    response.catch(() => undefined)
    this.#seed = request.seed
    this.#child.send(request)
    const [message] = await Promise.race([response, this.#ended])
    this.#seed = undefined
    return message
  }

  async stop(): Promise<void> {
    const ended = this.#ended.catch(() => undefined)
    if (this.#seed !== undefined) this.#child.kill('SIGKILL')
    // It ends by itself then, and writes what Node.js was asked to write at the end.
    else if (this.#child.connected) this.#child.disconnect()
    await ended
  }
}
