import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../common/logging/logger.ts'
import { type ExitCode, UsageError } from '../command.ts'
import { endProcess } from './end-process.ts'
import { waitForStopSignal } from './stop-signal.ts'

/** The chart's termination grace period is 30 s, of which the preStop hook uses 3 s. */
export const GRACE_PERIOD_SECONDS = 25
/** How long open resources may keep the process alive after a program has stopped. */
const OPEN_RESOURCES_TIMEOUT_MS = 2_000
/** How long a start may continue after a stop signal, so that the program can be stopped gracefully. */
const START_TIMEOUT_MS = 2_000

export type ProgramOptions = {
  readonly logger: Logger
  readonly gracePeriodMs: number
  /**
   * Resolves when the program is ready. The program calls `fail` when it cannot continue, such as after damage to its
   * data: it is stopped, and `runProgram` rejects with the error.
   */
  readonly start: (fail: (error: Error) => void) => Promise<{ stop(): Promise<void> }>
}

/**
 * Runs a program until a stop signal or a failure. The process is ended forcibly when the program takes longer than
 * `gracePeriodMs` to stop.
 */
export async function runProgram({ logger, gracePeriodMs, start }: ProgramOptions): Promise<ExitCode> {
  const stopSignal = waitForStopSignal(gracePeriodMs, logger)
  const startAborted = stopSignal.then(async (signal) => {
    await sleep(START_TIMEOUT_MS)
    return signal
  })
  const failed = Promise.withResolvers<Error>()
  const running = await Promise.race([start(failed.resolve), startAborted])
  if (typeof running === 'string') {
    logger.warn({ signal: running }, 'stop signal during start: ending the process')
    endProcess(128 + constants.signals[running])
  }
  const failure = await Promise.race([stopSignal.then(() => undefined), failed.promise])
  if (failure) forceExitAfterFailure(gracePeriodMs, logger)
  await running.stop()
  forceExitAfterStop(logger, failure ? 1 : 0)
  if (failure) throw failure
  return 0
}

/** Ends the process of a failed program that does not stop within its grace period. */
export function forceExitAfterFailure(gracePeriodMs: number, logger: Logger): void {
  setTimeout(() => {
    logger.error({ gracePeriodMs }, 'failed, and did not stop within its grace period: ending the process')
    endProcess(1)
  }, gracePeriodMs).unref()
}

/** Ends the process of a stopped program that left resources open, such as sockets and timers. */
export function forceExitAfterStop(logger: Logger, exitCode: ExitCode): void {
  setTimeout(() => {
    const resources = process.getActiveResourcesInfo()
    logger.warn({ resources }, 'stopped, but resources are still open: ending the process')
    endProcess(exitCode)
  }, OPEN_RESOURCES_TIMEOUT_MS).unref()
}

/** The value of `--grace-period` in milliseconds. */
export function parseGracePeriod(seconds: string = String(GRACE_PERIOD_SECONDS)): number {
  if (/^\d{1,6}(\.\d+)?$/.test(seconds) && Number(seconds) > 0) return Number(seconds) * 1_000
  throw new UsageError(`--grace-period ${seconds}: expected a number of seconds, such as ${GRACE_PERIOD_SECONDS}`)
}
