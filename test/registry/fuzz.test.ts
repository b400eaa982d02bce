import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { malformedRequest, randomOf } from '../support/hostile-requests.ts'
import { SEED } from '../support/property-seed.ts'
import { startTestRegistry, type TestRegistry } from '../support/registry.ts'
import { send } from '../support/registry-cases.ts'

/** `FUZZ_CASES=10000` runs longer. A failure prints the seed of its case, for `PROPERTY_SEED`. */
const CASES = Number(process.env['FUZZ_CASES'] ?? 200)
let registry: TestRegistry
beforeAll(async () => {
  registry = await startTestRegistry({}, { compatibilityWorker: { limitMs: 1_000 } })
})
afterAll(() => registry.stop())

describe('a registry that receives malformed requests', { tags: ['slow'] }, () => {
  it(`responds to ${CASES} requests without a 5xx status, and still registers a schema`, {
    timeout: 60_000 + CASES * 50,
  }, async () => {
    const statuses = new Map<number, number>()
    for (let at = 0; at < CASES; at++) {
      const request = malformedRequest(randomOf(SEED + at))
      const { status, body } = await send(registry, request)
      const shown = JSON.stringify(request).slice(0, 500)
      expect(status, `seed ${SEED + at}: ${shown} returned ${JSON.stringify(body)}`).toBeLessThan(500)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    // The requests reached different handlers.
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 404, 405, 422]))
    expect(await registry.call('POST', '/subjects/after/versions', { schema: '"int"' })).toMatchObject({ status: 200 })
  })

  it('rejects large requests above its limit with 429, and accepts them later', async () => {
    const small = await startTestRegistry({}, { compatibilityWorker: { waitingMax: 1 } })
    const post = () => small.call('POST', '/subjects/l', { schema: `"${'x'.repeat(70_000)}"` })
    const statuses = (await Promise.all(Array.from({ length: 5 }, post))).map(({ status }) => status)
    expect(statuses).toContain(429)
    expect((await post()).status).toBe(404)
    await small.stop()
  })
})
