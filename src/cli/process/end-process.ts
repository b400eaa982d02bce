/**
 * Ends this process at once, whatever its threads do. `process.exit` waits for all worker threads, and one in native code
 * or in a loop that V8 cannot interrupt never ends; a SIGKILL has no effect on process 1 of a container. Another program
 * image ends all of them, and answers with the exit code.
 */
export function endProcess(exitCode: number): never {
  try {
    process.execve?.(process.execPath, [process.execPath, '--eval', `process.exit(${exitCode})`], {})
  } catch {
    // Not on this system.
  }
  process.kill(process.pid, 'SIGKILL')
  throw new Error('a killed process does not go on')
}
