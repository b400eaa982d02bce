import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/env/longest-first.ts'

/**
 * Two projects. `unit` has the tests that need no other process; the fast suite is those of them without the tag `slow`.
 * `real` uses the real parts that `test/env` starts once for the whole run.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    tags: [
      {
        name: 'slow',
        description: 'Unit tests that need more than about 0.3 s; `npm run test:fast` leaves them out.',
      },
    ],
    projects: [
      {
        // Modules that tests write and load as plugins find the SDK by the name that authors know.
        resolve: { alias: { 'weir/sdk': join(import.meta.dirname, 'src/sdk/index.ts') } },
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/contract/**', 'test/e2e/**', 'test/golden/**'],
          // A process for each file would cost more than the tests: nothing in them outlives its test.
          isolate: false,
          // Threads and processes that tests start load src/ without stripping the types of each file again.
          env: {
            NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/node-compile'),
            TMPDIR: fastTemporaryDirectory(),
          },
          provide: { leastTestLimitMs: 30_000 },
          expect: { poll: { timeout: 25_000, interval: 10 } },
          // One more than the two cores that we measure on: tests also wait. 36 s instead of 46.
          maxWorkers: 3,
          setupFiles: [
            'test/support/time-limits.ts',
            'test/support/fast-passwords.ts',
            'test/support/property-seed.ts',
            'test/support/equality-testers.ts',
          ],
        },
      },
      {
        test: {
          name: 'real',
          include: ['test/contract/**/*.test.ts', 'test/e2e/**/*.test.ts', 'test/golden/**/*.test.ts'],
          globalSetup: ['test/env/global-setup.ts'],
          setupFiles: [
            'test/support/time-limits.ts',
            'test/support/property-seed.ts',
            'test/support/equality-testers.ts',
            'test/env/program-environment.ts',
          ],
          // They wait up to two minutes for real parts, which fails with what was waited for.
          provide: { leastTestLimitMs: 130_000 },
          expect: { poll: { timeout: 120_000 } },
          // Two more than the cores that we measure on: most of these tests wait for sessions, elections and probes.
          maxWorkers: 4,
          // After the fast ones: who broke something simple hears of it first.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})

/** In memory where there is enough, because the embedded broker syncs its files to the disk with each commit. */
function fastTemporaryDirectory(): string {
  const memory = '/dev/shm'
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > 2 ** 31 ? memory : tmpdir()
}
