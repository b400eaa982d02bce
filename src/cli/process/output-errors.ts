import { constants } from 'node:os'

/**
 * Ends a command that cannot write its output: as by SIGPIPE when the reader has closed it, such as `head`, else with exit code 3.
 * Commands that change something write their output at the end.
 */
export function endOnOutputError(): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE)
    process.stderr.write(`weir: the output cannot be written: ${message}\n`)
    process.exit(3)
  })
  // It cannot be reported anywhere, and is no reason not to finish.
  process.stderr.on('error', () => undefined)
}
