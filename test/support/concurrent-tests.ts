import { AsyncLocalStorage } from 'node:async_hooks'
import { aroundEach, describe, expect, onTestFinished, type SuiteOptions, type TestContext } from 'vitest'

const running = new AsyncLocalStorage<TestContext>()

/**
 * Tests that mostly wait, several at the same time. Vitest's own `onTestFinished` and `expect.poll` do not know which of
 * them calls: these tests and what they use call `whenTestEnds` and `poll`. They use no `vi.fn`, whose calls Vitest
 * clears before each test.
 */
export function describeConcurrently(name: string, define: () => void, options: SuiteOptions = {}): void {
  describe.concurrent(name, options, () => {
    aroundEach((runTest, context) => running.run(context, runTest))
    define()
  })
}

/** Runs a function at the end of the test that calls this. */
export function whenTestEnds(run: () => unknown): void {
  const test = running.getStore()
  if (test === undefined) onTestFinished(async () => void (await run()))
  else test.onTestFinished(async () => void (await run()))
}

/** The `expect.poll` of the test that calls this. */
export const poll: typeof expect.poll = (...polled) => (running.getStore()?.expect ?? expect).poll(...polled)
