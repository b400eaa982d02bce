import { spawnSync } from 'node:child_process'

/** Runs a command that the kernel ends by SIGKILL when the thread that started it has ended. */
const SETPRIV = ['setpriv', '--pdeathsig', 'KILL'] as const

let isAvailable: boolean | undefined

/**
 * Returns the command such that it ends with this process, also if this process is killed while the command does not return to
 * its event loop and so does not notice. Without the `setpriv` of util-linux, which `busybox` and macOS lack, the command itself.
 * To be called on the main thread only: the kernel ends the command together with the thread that starts it.
 */
export function commandWithParent(file: string, args: readonly string[]): { file: string; args: string[] } {
  isAvailable ??= process.platform === 'linux' && spawnSync(SETPRIV[0], [...SETPRIV.slice(1), 'true']).status === 0
  const [first, ...rest] = isAvailable ? [...SETPRIV, file, ...args] : [file, ...args]
  return { file: first, args: rest }
}
