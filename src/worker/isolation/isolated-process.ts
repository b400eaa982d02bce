import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { commandWithParent } from '../../common/command-with-parent.ts'
import { hasBusyThread, OwnTime, readActivity, readMainThread, readResidentBytes } from '../../common/process-times.ts'
import { withTimeout } from '../../common/timeout.ts'
import { traceOf } from '../tasks/error-trace.ts'
import { withCompileCache } from './compile-cache.ts'
import { ResidentLimit } from './memory-limits.ts'
import type { ProcessLog } from './process-log.ts'

export type IsolatedProcessOptions = {
  /** The module that the process runs. It connects by `worker-channel.ts`. */
  readonly entry: URL
  readonly args: readonly string[]
  /** Limit of each half of V8's young generation. */
  readonly semiSpaceMb: number
  readonly memoryMbMax: number
  /** Describes the end of a process that exceeded `memoryMbMax`. */
  readonly memoryExceeded: string
  /** How long code may run without returning to the event loop, in ms of its own time. */
  readonly blockedMsMax: number
  /** How long the process may take to start and to load its modules, in ms of its own time. */
  readonly loadMsMax: number
  readonly log: ProcessLog
  /** Called with what the process sends, which may be anything. When it throws, the process is ended. */
  readonly onMessage: (message: unknown) => void
  readonly onHeartbeat?: (load: ProcessLoadReport) => void
  /** Called once, when the process has ended or is unusable, unless `end` was called before. */
  readonly onEnd: (end: ProcessEnd) => void
}

/** The load of a process since its last heartbeat. */
export type ProcessLoadReport = {
  /** The processors that it used on average: 1 is a whole one. */
  readonly cpuUtilization: number
  /** Part of the memory limit that is in use. */
  readonly memoryPart: number
}

/** Why a process ended. */
export type ProcessEnd = {
  /** `lost`: it ended because it had no contact to this process, which had not been run. Nothing in it is at fault. */
  readonly cause: 'blocked' | 'memory' | 'exit' | 'lost'
  /** A predicate whose subject is the task or the plugin. */
  readonly what: string
  /** The task or call whose code ended the process, if that is known. */
  readonly key?: string
  /** The call stack at that time, one frame per line. */
  readonly stack?: string
}

/** The messages that a process sends about itself. */
export type OwnMessage =
  | { readonly type: 'heartbeat'; readonly cpuUtilization: number; readonly residentBytes: number }
  | { readonly type: 'exiting'; readonly key: string | undefined; readonly stack: string }

const CHECK_INTERVAL_MS = 100
/** Interval of the heartbeats of the worker, by which the process notices that the worker is frozen. */
const HEARTBEAT_CHECKS = 10
/** How long a blocked process may take to print its stack and to end, in ms of its own time. */
const INTERRUPT_MS_MAX = 2_000
/** A process that responds is silent for less. */
const SILENT_MS = 500
const SLOW_MS = 5_000
/** How long to wait for the remaining output of a process that has ended, in ms. */
const OUTPUT_TIMEOUT_MS = 500
/** The time between two checks, in ms, in which processes may have missed heartbeats of this one. */
const FROZEN_MS = 5_000
/** How long a process may take to exit by itself when it is not needed any more, in ms. */
const EXIT_TIMEOUT_MS = 1_000
/** Memory that Weir itself needs to load its modules, in MB. */
const LOADING_MB = 160
const INTERRUPTED = 'KEYBOARD_INTERRUPT'

/**
 * A process that runs plugin code on its main thread. This process watches it from outside, so that plugin code cannot evade the
 * limits: it is ended by SIGKILL, and its memory and CPU time are those that the kernel reports.
 *
 * A process that does not return to its event loop is asked for its stack by SIGINT (`--trace-sigint` of Node.js), which it prints to
 * its standard error. It is in a process group of its own, so that Ctrl-C in a terminal does not reach it.
 */
export class IsolatedProcess {
  readonly #options: IsolatedProcessOptions
  readonly #child: ChildProcess
  readonly #time: OwnTime
  readonly #checkTimer: NodeJS.Timeout
  #limit: ResidentLimit
  #reportedBytes: number | undefined
  #checks = 0
  #checkedMs = performance.now()
  #frozenMs = Number.NEGATIVE_INFINITY
  #ownMs = 0
  #isReady = false
  #isHeard = false
  #heardMs = performance.now()
  #silentMs = 0
  /** Set when the process was asked for its stack. */
  #interrupted: { readonly what: string; readonly activity: string; readonly atMs: number } | undefined
  #exiting: Extract<OwnMessage, { type: 'exiting' }> | undefined
  /** Set when the end is reported, or nobody is interested in it. */
  #isOver = false

  constructor(options: IsolatedProcessOptions) {
    this.#options = options
    const { entry, args, semiSpaceMb, memoryMbMax, log } = options
    const limits = [`--max-old-space-size=${memoryMbMax}`, `--max-semi-space-size=${semiSpaceMb}`]
    const node = commandWithParent(process.execPath, [...limits, '--trace-sigint'])
    this.#child = fork(entry, args, {
      detached: true,
      execPath: node.file,
      execArgv: node.args,
      env: withCompileCache(process.env),
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    const { pid } = this.#child
    const read = () => (pid === undefined ? undefined : readMainThread(pid))
    // Not asked of a process that responds, because it reads a file for each thread.
    const isBusy = () => pid !== undefined && (!this.#isReady || this.#silentMs > SILENT_MS) && hasBusyThread(pid)
    this.#time = new OwnTime(read, isBusy, () => performance.now(), 2 * CHECK_INTERVAL_MS)
    this.#limit = new ResidentLimit(memoryMbMax + LOADING_MB)
    this.#child.on('message', (message) => this.#receive(message))
    this.#child.on('error', (error) =>
      this.#report({ cause: 'exit', what: `could not be started in a process: ${traceOf(error)}` }),
    )
    this.#child.on('exit', (code, signal) => void this.#exited(code, signal))
    // Plugin code may have closed the channel.
    this.#child.on('disconnect', () => setTimeout(() => this.#kill(), EXIT_TIMEOUT_MS).unref())
    log.follow({ stdout: this.#child.stdout as Readable, stderr: this.#child.stderr as Readable })
    this.#checkTimer = setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref()
  }

  /** Errors are ignored: sending fails only when the process has exited, which `onEnd` reports. */
  post(message: object): void {
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  /** Ends the process. Resolves when it has exited. */
  async end(): Promise<void> {
    this.#isOver = true
    if (this.#hasExited) return
    const exited = once(this.#child, 'exit')
    // It exits by itself, so that Node.js can write its compile cache.
    if (this.#child.connected && this.#silentMs < SLOW_MS) this.#child.disconnect()
    else this.#kill()
    await withTimeout(exited, EXIT_TIMEOUT_MS, () => this.#kill())
    if (!this.#hasExited) await exited
  }

  /** The time that its main thread had since its start, in ms. */
  get ownMs(): number {
    return this.#ownMs
  }

  get #hasExited(): boolean {
    const { pid, exitCode, signalCode } = this.#child
    return pid === undefined || exitCode !== null || signalCode !== null
  }

  #receive(message: unknown): void {
    if (this.#isOver) return
    try {
      const own = message as OwnMessage
      this.#isHeard = true
      if (own.type === 'exiting') this.#exiting = own
      else if (own.type === 'heartbeat') this.#heartbeat(own)
      else this.#options.onMessage(message)
    } catch (error) {
      this.#fail({ cause: 'exit', what: `sent a message that the worker does not understand: ${traceOf(error)}` })
    }
  }

  #heartbeat({ cpuUtilization, residentBytes }: Extract<OwnMessage, { type: 'heartbeat' }>): void {
    // The memory that loaded modules need does not count.
    if (!this.#isReady) this.#limit = new ResidentLimit(this.#options.memoryMbMax)
    this.#isReady = true
    this.#reportedBytes = Number(residentBytes)
    this.#options.onHeartbeat?.({ cpuUtilization: Number(cpuUtilization), memoryPart: this.#limit.usedPart })
  }

  #check(): void {
    const { blockedMsMax, loadMsMax, memoryExceeded, log } = this.#options
    log.reportDropped()
    this.#checks += 1
    this.#noticeFreeze()
    this.#checkedMs = performance.now()
    if (this.#checks % HEARTBEAT_CHECKS === 0) this.post({ do: 'heartbeat' })
    const residentBytes = readResidentBytes(this.#child.pid ?? 0) ?? this.#reportedBytes
    if (residentBytes !== undefined && this.#limit.isExceeded(residentBytes)) {
      this.#fail({ cause: 'memory', what: memoryExceeded })
      return
    }
    const stepMs = this.#time.step()
    this.#ownMs += stepMs
    this.#countSilence(stepMs)
    if (this.#interrupted !== undefined) {
      if (this.#ownMs - this.#interrupted.atMs > INTERRUPT_MS_MAX) this.#kill()
    } else if (!this.#isReady && this.#ownMs > loadMsMax) this.#interrupt(`was not loaded within ${loadMsMax} ms`)
    else if (this.#isReady && this.#silentMs > blockedMsMax)
      this.#interrupt(`blocked its thread for more than ${blockedMsMax} ms`)
  }

  #noticeFreeze(): void {
    const nowMs = performance.now()
    if (nowMs - this.#checkedMs > FROZEN_MS) this.#frozenMs = nowMs
  }

  #countSilence(stepMs: number): void {
    const nowMs = performance.now()
    if (this.#isHeard) {
      this.#silentMs = 0
      this.#heardMs = nowMs
    } else {
      this.#silentMs += stepMs
      const waitedMs = Math.round(nowMs - this.#heardMs)
      if (this.#isReady && waitedMs > SLOW_MS) {
        this.#options.log.warn(
          { waitedMs, ownMs: Math.round(this.#silentMs) },
          'a process of plugin code is slow to respond',
        )
        this.#heardMs = nowMs
      }
    }
    this.#isHeard = false
  }

  #interrupt(what: string): void {
    this.#interrupted = { what, activity: readActivity(this.#child.pid ?? 0), atMs: this.#ownMs }
    this.#child.kill('SIGINT')
  }

  #fail(end: ProcessEnd): void {
    this.#report(end)
    this.#kill()
  }

  #kill(): void {
    if (!this.#hasExited) this.#child.kill('SIGKILL')
  }

  async #exited(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    clearInterval(this.#checkTimer)
    if (this.#isOver) return
    // With a timeout, because a process that a plugin started may keep the pipes open.
    await withTimeout(once(this.#child, 'close'), OUTPUT_TIMEOUT_MS, () => undefined)
    this.#report(this.#endOf(code, signal))
  }

  #endOf(code: number | null, signal: NodeJS.Signals | null): ProcessEnd {
    const { log, memoryExceeded } = this.#options
    this.#noticeFreeze()
    if (code === 0 && performance.now() - this.#frozenMs < FROZEN_MS)
      return { cause: 'lost', what: 'had no contact to its worker, which was not run for a while' }
    if (this.#interrupted !== undefined) {
      const stack = interruptedStack(log.outputTail)
      const { what, activity } = this.#interrupted
      if (stack !== '') return { cause: 'blocked', what, stack }
      return { cause: 'blocked', what: `${what}; it ${activity}, which has no stack` }
    }
    if (log.outputTail.includes('out of memory')) return { cause: 'memory', what: memoryExceeded }
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`
    const output = log.outputTail === '' ? '' : `; its last output was:\n${log.outputTail}`
    const { key, stack } = this.#exiting ?? {}
    return {
      cause: 'exit',
      what: `ended its process ${how}${this.#exiting === undefined ? output : ''}`,
      ...(typeof key === 'string' && { key }),
      ...(typeof stack === 'string' && stack !== '' && { stack }),
    }
  }

  #report(end: ProcessEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.onEnd(end)
  }
}

/** The frames that Node.js prints when it is interrupted. */
function interruptedStack(output: string): string {
  const [first = '', ...lines] = output.slice(Math.max(0, output.lastIndexOf(INTERRUPTED))).split('\n')
  if (!first.startsWith(INTERRUPTED)) return ''
  const end = lines.findIndex((line) => !line.startsWith('    at '))
  return lines.slice(0, end === -1 ? undefined : end).join('\n')
}
