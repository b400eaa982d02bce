import { afterAll, expect, onTestFinished } from 'vitest'
import { startTestRegistry, type TestFaults, type TestRegistry } from './registry.ts'

/** Method and path, such as `GET /subjects`, and an optional body. */
export type Request = readonly [line: string, body?: unknown]

/** A row of a contract's test table: preceding requests, the tested request, and its expected response. */
export type RegistryCase = {
  readonly given?: readonly Request[]
  readonly when: Request
  readonly status?: number
  readonly answer: unknown
  /** A request that is sent and checked after that. */
  readonly after?: { readonly when: Request; readonly answer: unknown }
  readonly settings?: Readonly<Record<string, string>>
  readonly faults?: TestFaults
}

export const errorResponse = (code: number, message: unknown, status = Math.floor(code / 100)) => ({
  status,
  answer: { error_code: code, message },
})

/**
 * Returns a function that runs the rows of one test file, each on an empty registry. Requests in `given` must succeed.
 * Rows with the same settings share a server, which is reset for each row; a row with `faults` has a separate server.
 */
export function createCaseRunner(): (row: RegistryCase) => Promise<void> {
  const shared = new Map<string, Promise<TestRegistry>>()
  afterAll(async () => {
    for (const registry of shared.values()) await (await registry).stop()
  })
  const sharedRegistry = async (settings: Readonly<Record<string, string>>): Promise<TestRegistry> => {
    const key = JSON.stringify(settings)
    const started = shared.get(key) ?? startTestRegistry(settings)
    shared.set(key, started)
    const registry = await started
    registry.reset()
    return registry
  }
  const startSeparate = async (
    settings: Readonly<Record<string, string>>,
    faults: TestFaults,
  ): Promise<TestRegistry> => {
    const registry = await startTestRegistry(settings, faults)
    onTestFinished(() => registry.stop())
    return registry
  }
  return async ({ given = [], when, status = 200, answer, settings = {}, faults, after }) => {
    const registry = faults ? await startSeparate(settings, faults) : await sharedRegistry(settings)
    await sendAll(registry, given)
    expect(await send(registry, when)).toEqual({ status, body: answer })
    if (after) expect(await send(registry, after.when)).toEqual({ status: 200, body: after.answer })
  }
}

export async function sendAll(registry: TestRegistry, given: readonly Request[]): Promise<void> {
  for (const request of given) {
    const done = await send(registry, request)
    expect({ request, ...done }).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) })
  }
}

export function send(registry: TestRegistry, [line, body]: Request): Promise<{ status: number; body: unknown }> {
  const blank = line.indexOf(' ')
  return registry.call(line.slice(0, blank), line.slice(blank + 1), body)
}
