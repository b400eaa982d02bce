import { constants } from 'node:os'
import { UserError } from '../config/failure.ts'

/** A stop may take so long where nobody says otherwise; then the process ends as it is. */
const STOP_MS = 5_000

/**
 * Resolves when somebody asks this process to end (Ctrl-C, SIGTERM). From then on it has `stopMs` (default 5 s); a second
 * Ctrl-C ends at once.
 */
export function whenAsked(stopMs: number = STOP_MS): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false
    const ask = (signal: NodeJS.Signals): void => {
      if (asked) process.exit(128 + constants.signals[signal])
      asked = true
      setTimeout(() => process.exit(128 + constants.signals[signal]), stopMs).unref()
      resolve(signal)
    }
    process.on('SIGINT', ask)
    process.on('SIGTERM', ask)
    process.on('SIGHUP', ask)
  })
}

/** Aborts when somebody asks this process to end. */
export function abortedWhenAsked(): AbortSignal {
  const asked = new AbortController()
  void whenAsked().then((name) => asked.abort(new Interrupted(name)))
  return asked.signal
}

/** The reason of that signal. */
export class Interrupted extends UserError<'interrupted'> {
  constructor(name: NodeJS.Signals) {
    super('interrupted', `stopped by ${name}`)
  }
}
