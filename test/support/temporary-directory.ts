import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory of the running test's own, gone when it is finished. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'weir-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
