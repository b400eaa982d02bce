import { createLogger, type Logger } from '../../src/common/logging/logger.ts'
import type { SimulatedProcess } from './simulated-process.ts'

type Line = {
  readonly msg: string
  readonly err?: { readonly message: string; readonly stack?: string }
  readonly level: number
}

/** Of an error that a program did not expect, the place is what a reader needs. */
const ERROR_LEVEL = 50

/** Notes what a program logs, without its fields, in the timeline. */
export function timelineLogger(process: SimulatedProcess): Logger {
  return createLogger({
    write: (line) => {
      const { msg, err, level } = JSON.parse(line) as Line
      const reason = level >= ERROR_LEVEL ? (err?.stack ?? err?.message) : err?.message
      process.simulation.note(process.name, reason === undefined ? msg : `${msg}: ${reason}`)
    },
  })
}
