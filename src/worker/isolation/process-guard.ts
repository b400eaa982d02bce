import { syncBuiltinESMExports } from 'node:module'

/** Signals to these would reach the worker, or everything: 0 and -1 are whole groups. */
function isOwn(pid: unknown): boolean {
  return pid === process.pid || pid === process.ppid || Number(pid) <= 1
}

/**
 * Replaces the functions of `process` that would end the process of all tasks. `refuse` fails the task that called one,
 * and throws.
 */
export function guardProcess(refuse: (call: string) => never): void {
  const target = process as unknown as Record<string, unknown>
  target['exit'] = (code?: unknown) => refuse(`process.exit(${code ?? ''})`)
  target['reallyExit'] = (code?: unknown) => refuse(`process.reallyExit(${code ?? ''})`)
  target['abort'] = () => refuse('process.abort()')
  target['execve'] = () => refuse('process.execve()')
  const kill = process.kill.bind(process)
  target['kill'] = (pid: number, signal?: NodeJS.Signals | number) =>
    isOwn(pid) && signal !== 0 ? refuse(`process.kill(${pid}, ${signal ?? 'SIGTERM'})`) : kill(pid, signal)
  target['_kill'] = () => refuse('process._kill()')
  // For who imports them by name.
  syncBuiltinESMExports()
}
