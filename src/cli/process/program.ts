import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../config/logger.ts'
import { type ExitCode, UsageError } from '../command.ts'
import { endProcess } from './end-process.ts'
import { startMainThreadWatchdog } from './main-thread-watchdog.ts'
import { waitForStopSignal } from './stop-signal.ts'

/** Kubernetes gives a pod of the chart 30 s, three of which it waits before the signal. */
export const GRACE_PERIOD_SECONDS = 25
/** What is left open after a program has stopped may keep its process for so long. */
const OPEN_RESOURCES_TIMEOUT_MS = 2_000
/** A program that is asked to end before it is up may still come up for so long, and is stopped in order then. */
const START_TIMEOUT_MS = 2_000

export type ProgramOptions = {
  readonly logger: Logger
  readonly gracePeriodMs: number
  /**
   * Resolves when the program is up; what it answers is stopped at the end. It calls `fail` when it cannot go on, such as
   * with a damaged log: the program is stopped, and the failure is its answer.
   */
  readonly start: (fail: (error: Error) => void) => Promise<{ stop(): Promise<void> }>
}

/**
 * Runs a program from its start until a signal asks it to end, or until it fails. It has `gracePeriodMs` to stop, whatever
 * runs in it: then its process ends as it is. Also ends when its main thread hangs for as long.
 */
export async function runProgram({ logger, gracePeriodMs, start }: ProgramOptions): Promise<ExitCode> {
  const asked = waitForStopSignal(gracePeriodMs, logger)
  startMainThreadWatchdog(gracePeriodMs, logger)
  const abandoned = asked.then(async (signal) => {
    await sleep(START_TIMEOUT_MS)
    return signal
  })
  const failed = Promise.withResolvers<Error>()
  const running = await Promise.race([start(failed.resolve), abandoned])
  if (typeof running === 'string') {
    logger.warn({ signal: running }, 'asked to end before it was up: ending the process')
    endProcess(128 + constants.signals[running])
  }
  const failure = await Promise.race([asked.then(() => undefined), failed.promise])
  if (failure) forceExitAfterFailure(gracePeriodMs, logger)
  await running.stop()
  forceExitAfterStop(logger, failure ? 1 : 0)
  if (failure) throw failure
  return 0
}

/** Ends the process of a program that has failed when it does not stop in time. Why it failed is in the log. */
export function forceExitAfterFailure(gracePeriodMs: number, logger: Logger): void {
  setTimeout(() => {
    logger.error({ gracePeriodMs }, 'failed, and did not stop within its grace period: ending the process as it is')
    endProcess(1)
  }, gracePeriodMs).unref()
}

/** The end of a program that has stopped: nothing that it left open keeps its process for long. */
export function forceExitAfterStop(logger: Logger, exitCode: ExitCode): void {
  setTimeout(() => {
    const resources = process.getActiveResourcesInfo()
    logger.warn({ resources }, 'stopped, but something is still open: ending the process')
    endProcess(exitCode)
  }, OPEN_RESOURCES_TIMEOUT_MS).unref()
}

/** Of the option `--grace-period`, in milliseconds. */
export function parseGracePeriod(seconds: string = String(GRACE_PERIOD_SECONDS)): number {
  if (/^\d{1,6}(\.\d+)?$/.test(seconds) && Number(seconds) > 0) return Number(seconds) * 1_000
  throw new UsageError(`--grace-period ${seconds}: expected a number of seconds, such as ${GRACE_PERIOD_SECONDS}`)
}
