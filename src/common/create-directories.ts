import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

export type CreateDirectoriesOptions = {
  /** Permissions of what is created. Default: those of the process. */
  readonly mode?: number
  /** Called with each directory that was created, the outermost first. */
  readonly onCreated?: (directory: string) => void
}

/**
 * Creates a directory and those that contain it, if they do not exist. Throws the error of the file system. Not by `mkdir` with `recursive`,
 * which never returns on a file system that reports a directory that cannot be created as missing, such as `/proc`.
 */
export function createDirectories(directory: string, options: CreateDirectoriesOptions = {}): void {
  const path = resolve(directory)
  if (existsSync(path)) return
  createDirectories(dirname(path), options)
  try {
    mkdirSync(path, options.mode)
  } catch (error) {
    // Another process may have created it.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    throw error
  }
  options.onCreated?.(path)
}
