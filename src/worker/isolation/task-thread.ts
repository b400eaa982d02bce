import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { BrokerAddress } from '../../broker/home.ts'
import type { Logger } from '../../config/logger.ts'
import { traceOf } from '../tasks/trace.ts'
import { interrogate, type Testimony } from './interrogation.ts'
import type { FromThread, ThreadData, ToThread } from './messages.ts'

export type ThreadOptions = {
  readonly name: string
  readonly logger: Logger
  /** Where the log is, for one more thread. */
  readonly address: () => Promise<BrokerAddress>
  readonly plugins: readonly string[]
  /** What all of its tasks together may hold on V8's heap. */
  readonly memoryMbMax: number
  readonly onMessage: (message: Exclude<FromThread, { type: 'log' }>) => void
  /** Once, when it is gone. */
  readonly onEnd: (end: ThreadEnd) => void
}

/** Why a thread ended, as the end of a sentence that begins with its task. */
export type ThreadEnd = { readonly what: string; readonly testimony?: Testimony }

const LEVELS: Readonly<Record<number, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

/** A thread finds what was compiled where its process does, but only if it is told so. */
function withCompileCache(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = getCompileCacheDir()
  return own === undefined ? env : { ...env, NODE_COMPILE_CACHE: dirname(own) }
}

/** One thread for tasks, seen from outside. */
export class TaskThread {
  readonly #options: ThreadOptions
  readonly #beat = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  readonly #counter = new Int32Array(this.#beat)
  readonly #worker: Promise<Worker | undefined>
  #lastBeat = 0
  #missed = 0
  #end: ThreadEnd | undefined
  #isOver = false

  constructor(options: ThreadOptions) {
    this.#options = options
    this.#worker = this.#start().catch((error: unknown) => {
      this.#over({ what: `could not get a thread: ${traceOf(error)}` })
      return undefined
    })
  }

  post(message: ToThread): void {
    void this.#worker.then((worker) => worker?.postMessage(message))
  }

  /** Counts the looks at which the thread had not moved since the last one. */
  look(): number {
    const beat = Atomics.load(this.#counter, 0)
    // Until its first beat it is still being made.
    this.#missed = beat === this.#lastBeat && beat > 0 ? this.#missed + 1 : 0
    this.#lastBeat = beat
    return this.#missed
  }

  /** Ends a thread that does not answer, after asking it what it does. */
  async endBlocked(forMs: number): Promise<void> {
    const testimony = await interrogate(this.#options.name)
    this.#over({ what: `blocked its thread for more than ${forMs} ms`, ...(testimony && { testimony }) })
    await this.end()
  }

  async end(): Promise<void> {
    this.#isOver = true
    await (await this.#worker)?.terminate()
  }

  async #start(): Promise<Worker> {
    const { name, address, plugins, memoryMbMax, onMessage } = this.#options
    const place = await address()
    const workerData: ThreadData = { address: place, beat: this.#beat, plugins }
    const worker = new Worker(new URL(`./thread${extname(import.meta.filename)}`, import.meta.url), {
      name,
      workerData,
      env: withCompileCache(process.env),
      resourceLimits: { maxOldGenerationSizeMb: memoryMbMax },
      transferList: place.kind === 'thread' ? [place.port] : [],
    })
    worker.on('message', (message: FromThread) => {
      if (message.type === 'log') this.#log(message.line)
      else if (!this.#isOver) onMessage(message)
    })
    worker.on('error', (error: unknown) => {
      const isMemory = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY'
      this.#end = {
        what: isMemory
          ? `exhausted the memory of its thread, which is ${memoryMbMax} MB`
          : `ended its thread: ${traceOf(error)}`,
      }
    })
    worker.on('exit', (code) => this.#over(this.#end ?? { what: `ended its thread with exit code ${code}` }))
    return worker
  }

  #over(end: ThreadEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.onEnd(end)
  }

  #log(line: string): void {
    const { level, time: _, msg, ...fields } = JSON.parse(line) as { level: number; time: string; msg: string }
    this.#options.logger[LEVELS[level] ?? 'info'](fields, msg)
  }
}
