import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeDirectory } from '../env/remove-directory.ts'
import { whenTestEnds } from './concurrent-tests.ts'

/** Creates a directory that is removed at the end of the test, or when `atEnd` says. */
export function temporaryDirectory(parent = tmpdir(), atEnd: (end: () => void) => void = whenTestEnds): string {
  const directory = mkdtempSync(join(parent, 'weir-'))
  atEnd(() => removeDirectory(directory))
  return directory
}

/** Like `temporaryDirectory`, but in memory if possible, for tests that would be slowed down by many disk syncs. */
export function memoryDirectory(): string {
  return temporaryDirectory(existsSync('/dev/shm') ? '/dev/shm' : tmpdir())
}
