/**
 * Ends this process immediately. `process.exit` waits for all worker threads, and a thread in native code or in a loop that
 * V8 cannot interrupt never ends; process 1 of a container ignores SIGKILL from itself. `execve` ends all threads by
 * replacing the program, which then exits with the code.
 */
export function endProcess(exitCode: number): never {
  try {
    process.execve?.(process.execPath, [process.execPath, '--eval', `process.exit(${exitCode})`], {})
  } catch {
    // Not supported on this platform.
  }
  process.kill(process.pid, 'SIGKILL')
  throw new Error('a killed process does not continue')
}
