import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BrokerError } from '../../../src/broker/broker-error.ts'
import { removeDirectory } from '../../env/remove-directory.ts'
import { anyDamage, damageFiles } from '../../support/file-damage.ts'
import { propertyRuns } from '../../support/property-seed.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'
import { batchOf } from './batch.ts'
import { contentOf, open, recordSnapshots } from './recorded-snapshots.ts'

/** Number of runs of the property. */
const ROUNDS = Number(process.env['WEIR_DAMAGE_ROUNDS'] ?? propertyRuns(150))

const SLOW = { tags: ['slow'], timeout: 300_000 }

it('after any damage to its files, has all acknowledged data or refuses to open and names the file', SLOW, async () => {
  const life = await recordSnapshots()
  const directory = join(memoryDirectory(), 'data')
  const outcomes = { complete: 0, refused: 0 }
  const seen = fc.record({ moment: fc.nat(life.length - 1), damages: anyDamage })
  await fc.assert(
    fc.asyncProperty(seen, async ({ moment, damages }) => {
      const { directory: origin, content } = life[moment]!
      removeDirectory(directory)
      cpSync(origin, directory, { recursive: true })
      const copies = life.slice(0, moment).map((snapshot) => snapshot.directory)
      damageFiles(directory, damages, copies)
      const backend = await open(directory).catch((error: unknown) => error as BrokerError)
      if (backend instanceof Error) {
        expect(backend).toMatchObject({
          code: 'data_corrupt',
          message: expect.stringContaining(`${directory}/broker.`),
        })
        expect(backend.message).toContain('weir data repair')
        outcomes.refused += 1
        return
      }
      try {
        expect(await contentOf(backend)).toEqual(content)
        outcomes.complete += 1
      } finally {
        await backend.close()
      }
    }),
    { numRuns: ROUNDS },
  )
  // The property is meaningful only if both outcomes occur.
  expect(outcomes.refused).toBeGreaterThan(ROUNDS / 3)
  expect(outcomes.complete).toBeGreaterThan(ROUNDS / 20)
})

it('names the topic and the offsets of records that are lost with a missing write-ahead log', async () => {
  const directory = join(memoryDirectory(), 'data')
  const copy = join(memoryDirectory(), 'copy')
  const backend = await open(directory)
  await backend.createTopic({ name: 'orders', partitions: 3 })
  for (const value of ['a', 'b', 'c']) {
    const batches = [{ topic: 'orders', partition: 2, bytes: batchOf([value]) }]
    await backend.produce({ node: 0, timeoutMs: 1_000, batches })
  }
  cpSync(directory, copy, { recursive: true })
  await backend.close()

  rmSync(join(copy, 'broker.db-wal'))
  await expect(open(copy)).rejects.toMatchObject({
    code: 'data_corrupt',
    message: expect.stringContaining("topic 'orders', partition 2, offsets 1 to 2"),
  })
})
