import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory of the running test's own, gone when it is finished. */
export function temporaryDirectory(parent = tmpdir()): string {
  const directory = mkdtempSync(join(parent, 'weir-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** The same in memory where the machine has such a place: for tests that sync to disk so often that they would wait for it. */
export function memoryDirectory(): string {
  return temporaryDirectory(existsSync('/dev/shm') ? '/dev/shm' : tmpdir())
}
