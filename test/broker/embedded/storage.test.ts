import { expect, it } from 'vitest'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { Storage } from '../../../src/broker/embedded/storage.ts'
import { createLogger, silentLogger } from '../../../src/common/logging/logger.ts'

function open(logger = silentLogger()) {
  const storage = new Storage(':memory:', { nowMs: 0, logger })
  const insert = storage.prepare('insert into settings (name, value) values (?, ?)')
  const names = () =>
    storage
      .prepare('select name from settings order by name')
      .all()
      .map((row) => row['name'])
  const put = (name: string, value = 'x') => storage.write(() => void insert.run(name, value))
  return { storage, put, names }
}

it('commits the writes of one event loop turn together, without those that are rejected', async () => {
  const { storage, put, names } = open()
  const refused = () => {
    throw new BrokerError('invalid_request', 'no')
  }
  const outcomes = await Promise.allSettled([put('a'), storage.write(refused), put('b')])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(names()).toEqual(['a', 'b'])
  storage.close()
})

it('on a full disk, rejects and reverts only the write that does not fit', async () => {
  const { storage, put, names } = open()
  const pages = Number(storage.prepare('pragma page_count').get()!['page_count'])
  storage.prepare(`pragma max_page_count = ${pages + 2}`).get()
  let remembered = 'before'
  const large = storage.write((change) => {
    remembered = 'after'
    change.onRollback(() => {
      remembered = 'before'
    })
    storage.prepare('insert into settings (name, value) values (?, ?)').run('large', 'x'.repeat(1e6))
  })
  const outcomes = await Promise.allSettled([put('a'), large, put('b')])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(outcomes[1]).toMatchObject({ reason: { code: 'disk_full', retriable: true } })
  expect(remembered).toBe('before')
  await put('c')
  expect(names()).toEqual(['a', 'b', 'c'])
  storage.close()
})

it('commits the required first write together with the first write for which there is space', async () => {
  const { storage, put, names } = open()
  const pages = Number(storage.prepare('pragma page_count').get()!['page_count'])
  storage.prepare(`pragma max_page_count = ${pages}`).get()
  const insert = storage.prepare('insert into settings (name, value) values (?, ?)')
  await storage.writeFirst(() => void insert.run('first', 'x'.repeat(1e5)))
  await expect(put('a')).rejects.toMatchObject({ code: 'disk_full' })
  expect(names()).toEqual([])
  storage.prepare(`pragma max_page_count = ${pages + 100}`).get()
  for (const name of ['b', 'c']) await put(name)
  expect(names()).toEqual(['b', 'c', 'first'])
  storage.close()
})

it('logs once that the disk is full and once that there is space', async () => {
  const messages: string[] = []
  const { storage, put } = open(createLogger({ write: (line) => void messages.push(JSON.parse(line).msg) }))
  const pages = Number(storage.prepare('pragma page_count').get()!['page_count'])
  const limit = (count: number) => void storage.prepare(`pragma max_page_count = ${count}`).get()
  limit(pages)
  for (const name of ['a', 'b']) await expect(put(name, 'x'.repeat(1e5))).rejects.toMatchObject({ code: 'disk_full' })
  limit(pages + 100)
  for (const name of ['a', 'b']) await put(name, 'x'.repeat(1e5))
  expect(messages).toEqual([expect.stringContaining('is full'), expect.stringContaining('has space again')])
  storage.close()
})

it('runs effects only after the commit', async () => {
  const { storage } = open()
  const effects: string[] = []
  const bug = storage.write((change) => {
    change.onCommit(() => effects.push('failed'))
    throw new TypeError('a bug')
  })
  const good = storage.write((change) => change.onCommit(() => effects.push('stored')))
  await expect(bug).rejects.toBeInstanceOf(TypeError)
  await good
  expect(effects).toEqual(['stored'])
  storage.close()
})

it('commits queued writes when it is closed and rejects later ones', async () => {
  const { storage, put } = open()
  const waiting = put('a')
  storage.close()
  await waiting
  await expect(put('b')).rejects.toMatchObject({ code: 'closed' })
})
