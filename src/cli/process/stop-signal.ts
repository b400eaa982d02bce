import { constants } from 'node:os'
import { UserError } from '../../common/errors.ts'
import { partsBeingStopped } from '../../common/lifecycle.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { endProcess } from './end-process.ts'

const DEFAULT_GRACE_PERIOD_MS = 5_000

/**
 * Resolves at the first SIGINT (Ctrl-C), SIGTERM or SIGHUP. The process is ended forcibly, with exit code 128 + signal
 * number, after `gracePeriodMs` or at a second signal. The log names the parts that did not stop.
 */
export function waitForStopSignal(
  gracePeriodMs: number = DEFAULT_GRACE_PERIOD_MS,
  logger?: Logger,
): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isStopping = false
    const onSignal = (signal: NodeJS.Signals): void => {
      const exitCode = 128 + constants.signals[signal]
      if (isStopping) endProcess(exitCode)
      isStopping = true
      setTimeout(() => {
        const parts = partsBeingStopped()
        logger?.error({ parts, gracePeriodMs, exitCode }, 'did not stop within its grace period: ending the process')
        endProcess(exitCode)
      }, gracePeriodMs).unref()
      resolve(signal)
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
    process.on('SIGHUP', onSignal)
  })
}

/** A signal that aborts with an `InterruptedError` when the process is asked to stop. */
export function abortOnStopSignal(): AbortSignal {
  const controller = new AbortController()
  void waitForStopSignal().then((name) => controller.abort(new InterruptedError(name)))
  return controller.signal
}

export class InterruptedError extends UserError<'interrupted'> {
  constructor(name: NodeJS.Signals) {
    super('interrupted', `interrupted by ${name}`)
  }
}
