import { rmSync } from 'node:fs'

/** Removes a directory, also while a process that is about to end still writes files into it. */
export function removeDirectory(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}
