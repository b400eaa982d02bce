import { constants } from 'node:os'

/**
 * Ends a command whose output cannot be written: with the exit code of SIGPIPE when the reader has closed the pipe, as `head` does,
 * otherwise with exit code 3. Commands that change something write their output at the end, after the changes.
 */
export function endOnOutputError(): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE)
    process.stderr.write(`weir: the output cannot be written: ${message}\n`)
    process.exit(3)
  })
  // An error of standard error cannot be reported, and the command can still finish its work.
  process.stderr.on('error', () => undefined)
}
