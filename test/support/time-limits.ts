import { expect, inject, vi } from 'vitest'
import { limitsOf } from '../env/recorded-durations.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Limit in ms of a test that has no recorded duration. */
    leastTestLimitMs: number
  }
}

// Runs before each file. A limit is that of the file's own tests, so that one that hangs ends soon, and one that is long may be.
vi.setConfig(limitsOf(expect.getState().testPath!, inject('leastTestLimitMs')))
