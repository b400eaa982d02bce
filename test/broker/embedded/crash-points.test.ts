import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { ChecksumFile } from '../../../src/broker/embedded/checksum-file.ts'
import { FORMAT } from '../../../src/broker/embedded/database-format.ts'
import { Storage } from '../../../src/broker/embedded/storage.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'

const open = (directory: string) => new Storage(directory, { nowMs: 0, logger: silentLogger() })

const write = (storage: Storage, name: string) =>
  storage.write(() => {
    storage.prepare('insert into settings (name, value) values (?, ?)').run(name, 'x'.repeat(30_000))
  })

const namesOf = (storage: Storage) =>
  storage
    .prepare("select name from settings where name <> 'opened_ms'")
    .all()
    .map((row) => String(row['name']))

afterEach(() => vi.restoreAllMocks())

/** Copies the files before and after each step that the checksum file's order depends on, as a kill there leaves them. */
function copyAtEachStep(directory: string, copies: string[]): void {
  const copy = () => {
    const target = `${directory}-${copies.length}`
    cpSync(directory, target, { recursive: true })
    copies.push(target)
  }
  for (const name of ['writeHeader', 'writeSums', 'sync', 'reserve'] as const) {
    const step = ChecksumFile.prototype[name] as (...parameters: unknown[]) => void
    const copied = function (this: ChecksumFile, ...parameters: unknown[]): void {
      copy()
      step.apply(this, parameters)
      copy()
    }
    vi.spyOn(ChecksumFile.prototype, name).mockImplementation(copied)
  }
}

it('has all acknowledged data after a kill between any two of its writes', { tags: ['slow'] }, async () => {
  const directory = join(memoryDirectory(), 'data')
  const copies: string[] = []
  /** The number of writes that were acknowledged when each copy was made. */
  const acknowledgedAt: number[] = []
  copyAtEachStep(directory, copies)
  const note = (count: number) => {
    while (acknowledgedAt.length < copies.length) acknowledgedAt.push(count)
  }
  let count = 0
  for (let life = 0; life < 3; life++) {
    const storage = open(directory)
    note(count)
    for (let index = 0; index < 4; index++) {
      await write(storage, `${life}.${index}`)
      note(count)
      count += 1
    }
    storage.close()
    note(count)
  }
  vi.restoreAllMocks()

  expect(copies.length).toBeGreaterThan(100)
  for (const [index, copy] of copies.entries()) {
    const storage = open(copy)
    expect(namesOf(storage).length).toBeGreaterThanOrEqual(acknowledgedAt[index]!)
    expect(storage.prepare('pragma user_version').get()).toEqual({ user_version: FORMAT })
    await write(storage, 'after')
    storage.close()
    // Data written after the recovery is kept as well.
    const reopened = open(copy)
    expect(namesOf(reopened)).toContain('after')
    reopened.close()
  }
})
