import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { CheckFile } from '../../../src/broker/embedded/check-file.ts'
import { FORMAT } from '../../../src/broker/embedded/database-format.ts'
import { Storage } from '../../../src/broker/embedded/storage.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'

const open = (directory: string) => new Storage(directory, { nowMs: 0, logger: silentLogger() })

const write = (storage: Storage, name: string) =>
  storage.write((change) => {
    storage.prepare('insert into settings (name, value) values (?, ?)').run(name, 'x'.repeat(30_000))
    change.recordEndOffset(1, 1)
    if (name.endsWith('3')) change.checkpointTopics()
  })

const namesOf = (storage: Storage) =>
  storage
    .prepare('select name from settings')
    .all()
    .map((row) => String(row['name']))

afterEach(() => vi.restoreAllMocks())

/** Copies the files before and after each write of broker.check, as a kill there leaves them: between them are the commits. */
function copyAtEachStep(directory: string, copies: string[]): void {
  const copy = () => {
    const target = `${directory}-${copies.length}`
    cpSync(directory, target, { recursive: true })
    copies.push(target)
  }
  const { create } = CheckFile
  const { acknowledge, noteClosed } = CheckFile.prototype
  const copiedAround = (step: (...parameters: never[]) => unknown) =>
    function (this: unknown, ...parameters: never[]): never {
      copy()
      const result = step.apply(this, parameters)
      copy()
      return result as never
    }
  vi.spyOn(CheckFile, 'create').mockImplementation(copiedAround(create) as never)
  vi.spyOn(CheckFile.prototype, 'acknowledge').mockImplementation(copiedAround(acknowledge) as never)
  vi.spyOn(CheckFile.prototype, 'noteClosed').mockImplementation(copiedAround(noteClosed) as never)
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
    for (let index = 0; index < 18; index++) {
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
