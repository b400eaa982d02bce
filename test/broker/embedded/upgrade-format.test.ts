import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { repair } from '../../../src/broker/embedded/maintenance/repair.ts'
import { verifyDirectory } from '../../../src/broker/embedded/maintenance/verify.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'
import { contentOf, open } from './recorded-snapshots.ts'

/** Two directories of format 2 with the same content: one was closed, the process of the other was killed. */
const FORMAT_2 = JSON.parse(
  gunzipSync(readFileSync(join(import.meta.dirname, 'format-2.json.gz'))).toString(),
) as Readonly<Record<'closed' | 'killed', Readonly<Record<string, string>>>> & { readonly content: unknown }

function directoryOf(name: 'closed' | 'killed'): string {
  const directory = join(memoryDirectory(), name)
  mkdirSync(directory)
  for (const [file, content] of Object.entries(FORMAT_2[name]))
    writeFileSync(join(directory, file), Buffer.from(content, 'base64'))
  return directory
}

async function contentIn(directory: string): Promise<unknown> {
  const backend = await open(directory)
  try {
    return JSON.parse(JSON.stringify(await contentOf(backend)))
  } finally {
    await backend.close()
  }
}

const flip = (file: string, at: number) => {
  const bytes = readFileSync(file)
  bytes[at]! ^= 1
  writeFileSync(file, bytes)
}

describe('a data directory of format 2', () => {
  it.each(['closed', 'killed'] as const)(
    'that was %s is upgraded with all of its content',
    { tags: ['slow'] },
    async (name) => {
      const directory = directoryOf(name)
      expect(verifyDirectory(directory)).toMatchObject({ faults: [] })
      expect(await contentIn(directory)).toEqual(FORMAT_2.content)
      expect(verifyDirectory(directory)).toMatchObject({ faults: [] })
      expect(await contentIn(directory)).toEqual(FORMAT_2.content)
    },
  )

  it.each<[string, (directory: string) => void]>([
    ['broker.db-wal', (directory) => truncateSync(join(directory, 'broker.db-wal'), 40_000)],
    ['broker.db-wal', (directory) => truncateSync(join(directory, 'broker.db-wal'))],
    ['broker.db-wal', (directory) => flip(join(directory, 'broker.db-wal'), 100_000)],
    ['broker.check', (directory) => flip(join(directory, 'broker.check'), 30)],
    ['broker.check', (directory) => truncateSync(join(directory, 'broker.check'))],
    ['broker.db', (directory) => flip(join(directory, 'broker.db'), 0)],
  ])('is not upgraded when its %s is damaged (%#)', async (file, damage) => {
    const directory = directoryOf('killed')
    damage(directory)
    const before = readFileSync(join(directory, 'broker.db'))
    await expect(open(directory)).rejects.toMatchObject({
      code: 'data_corrupt',
      message: expect.stringContaining(join(directory, file)),
    })
    expect(readFileSync(join(directory, 'broker.db')).equals(before)).toBe(true)
    expect(existsSync(join(directory, 'broker.db-wal'))).toBe(true)
  })

  it('is repaired when its write-ahead log is damaged', async () => {
    const directory = directoryOf('killed')
    truncateSync(join(directory, 'broker.db-wal'), 200_000)
    const { damaged, lost, notes } = repair(directory, 0, () => {})
    expect(existsSync(join(damaged!, 'broker.db'))).toBe(true)
    expect([...lost, ...notes].length).toBeGreaterThan(0)
    expect(verifyDirectory(directory)).toMatchObject({ faults: [] })
    await contentIn(directory)
  })
})
