import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Creates a directory that is removed at the end of the test, or when `atEnd` says. */
export function temporaryDirectory(parent = tmpdir(), atEnd: (end: () => void) => void = onTestFinished): string {
  const directory = mkdtempSync(join(parent, 'weir-'))
  atEnd(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Like `temporaryDirectory`, but in memory if possible, for tests that would be slowed down by many disk syncs. */
export function memoryDirectory(): string {
  return temporaryDirectory(existsSync('/dev/shm') ? '/dev/shm' : tmpdir())
}
