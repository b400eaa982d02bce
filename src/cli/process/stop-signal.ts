import { constants } from 'node:os'
import { UserError } from '../../config/errors.ts'
import { partsBeingStopped } from '../../config/lifecycle.ts'
import type { Logger } from '../../config/logger.ts'
import { endProcess } from './end-process.ts'

/** A command may take so long to stop; then the process ends as it is. */
const DEFAULT_GRACE_PERIOD_MS = 5_000

/**
 * Resolves when somebody asks this process to end (Ctrl-C, SIGTERM, SIGHUP). From then on it has `stopMs`; after them, or
 * at a second Ctrl-C, it ends as it is, with exit code 128 and the number of the signal. The log says what did not stop.
 */
export function waitForStopSignal(stopMs: number = DEFAULT_GRACE_PERIOD_MS, logger?: Logger): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false
    const ask = (signal: NodeJS.Signals): void => {
      const exitCode = 128 + constants.signals[signal]
      if (asked) endProcess(exitCode)
      asked = true
      setTimeout(() => {
        const parts = partsBeingStopped()
        logger?.error({ parts, stopMs, exitCode }, 'did not stop within its grace period: ending the process as it is')
        endProcess(exitCode)
      }, stopMs).unref()
      resolve(signal)
    }
    process.on('SIGINT', ask)
    process.on('SIGTERM', ask)
    process.on('SIGHUP', ask)
  })
}

/** Aborts when somebody asks this process to end. */
export function abortOnStopSignal(): AbortSignal {
  const asked = new AbortController()
  void waitForStopSignal().then((name) => asked.abort(new InterruptedError(name)))
  return asked.signal
}

/** The reason of that signal. */
export class InterruptedError extends UserError<'interrupted'> {
  constructor(name: NodeJS.Signals) {
    super('interrupted', `stopped by ${name}`)
  }
}
