import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { BrokerBackend } from '../../src/broker/broker-backend.ts'
import { openEmbeddedBackend } from '../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { nextOffsetOf, recordsOf } from '../broker/embedded/batch.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

const WRITER = fileURLToPath(new URL('embedded-crash/writer.ts', import.meta.url))
const ROUNDS = 25
const TRANSACTIONS_MAX = 20
const DELAY_MS_MAX = 10

it('an embedded broker that is killed repeatedly keeps every acknowledged record and no partial transaction', async () => {
  const directory = temporaryDirectory()
  const acknowledged: string[] = []
  const committed = new Set<string>()
  for (let round = 1; round <= ROUNDS; round++) {
    const lines = await killedWriter(directory, round)
    acknowledged.push(...lines)
    const home = await openEmbeddedBackend(directory, { logger: silentLogger() })
    await checkAll(home, acknowledged, committed)
    await home.close()
  }
})

/** Kills a writer at a random moment after a random number of transactions, and returns the lines that it has printed. */
async function killedWriter(directory: string, round: number): Promise<readonly string[]> {
  const writer = spawn(process.execPath, [WRITER, directory, String(round)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  writer.stdout.setEncoding('utf8')
  writer.stdout.on('data', (text: string) => {
    printed += text
  })
  const transactions = 1 + Math.floor(Math.random() * TRANSACTIONS_MAX)
  await until('the transactions', { everyMs: 1, timeoutMs: 120_000 }, () => {
    if (writer.exitCode !== null) throw new Error(`the writer exited with code ${writer.exitCode}`)
    return printed.split('move ').length > transactions
  })
  await killWithin(writer, Math.random() * DELAY_MS_MAX)
  // The kill may have cut off the last line.
  return printed.split('\n').slice(0, -1)
}

async function killWithin(writer: ChildProcess, ms: number): Promise<void> {
  const closed = once(writer, 'close')
  const timer = setTimeout(() => writer.kill('SIGKILL'), ms)
  const [code, signal] = await closed
  clearTimeout(timer)
  expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' })
}

async function checkAll(home: BrokerBackend, acknowledged: readonly string[], committed: Set<string>): Promise<void> {
  const plain = await readAll(home, 'plain')
  const [left, right] = [await readAll(home, 'left'), await readAll(home, 'right')]
  const stored = new Set([...plain.map((value) => `plain ${value}`), ...left.map((value) => `move ${value}`)])
  expect(acknowledged.filter((line) => !stored.has(line))).toEqual([])
  expect(new Set(plain).size).toBe(plain.length)
  expect(plain.length % 3).toBe(0)
  expect(left).toEqual(right)
  expect(await readAll(home, 'left', 'read_uncommitted')).toEqual(left)
  const last = left.at(-1)
  const [offset] = await home.groupOffsets({ groupId: 'mover' })
  expect(offset?.offset).toBe(last === undefined ? undefined : Number(last) + 1)
  // Every fifth transaction was aborted by its writer.
  expect(left.filter((value) => (Number(value) % 1_000_000) % 5 === 4)).toEqual([])
  // What was once there, acknowledged or not, stays.
  for (const value of left) committed.add(value)
  expect(committed.size).toBe(left.length)
}

async function readAll(
  home: BrokerBackend,
  topic: string,
  isolation: 'read_committed' | 'read_uncommitted' = 'read_committed',
) {
  const values: string[] = []
  const request = { node: 0, waitMsMax: 0, bytesMin: 1, bytesMax: 1e6, isolation }
  for (let offset = 0; ; ) {
    const [fetched] = await home.fetch({ ...request, partitions: [{ topic, partition: 0, offset }] })
    expect(fetched?.error).toBeUndefined()
    values.push(...recordsOf(fetched!.bytes).map(({ value }) => value ?? ''))
    offset = nextOffsetOf(fetched!.bytes) ?? offset
    if (offset >= fetched!.endOffset) return values
  }
}
