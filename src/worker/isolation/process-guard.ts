import { syncBuiltinESMExports } from 'node:module'

/** A signal to one of these processes would reach the worker or a whole process group (0 and -1). */
function isOwn(pid: unknown): boolean {
  return pid === process.pid || pid === process.ppid || Number(pid) <= 1
}

/**
 * Replaces the functions of `process` that would end the process of all tasks. `refuse` fails the calling task and
 * throws.
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
  // Also updates the bindings of modules that import these functions by name.
  syncBuiltinESMExports()
}
