import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { BrokerBackend } from '../../src/broker/broker-backend.ts'
import { openEmbeddedBackend } from '../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { nextOffsetOf, recordsOf } from '../broker/embedded/batch.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const WRITER = fileURLToPath(new URL('embedded-crash/writer.ts', import.meta.url))
const ROUNDS = 25
const LIFE_MS_MAX = 120

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
  // The test is worth something only when much was acknowledged in most rounds.
  expect(acknowledged.filter((line) => line.startsWith('plain')).length).toBeGreaterThan(ROUNDS * 10)
  expect(acknowledged.filter((line) => line.startsWith('move')).length).toBeGreaterThan(ROUNDS)
})

/** What a writer said before it was killed, at a random moment of its work. */
async function killedWriter(directory: string, round: number): Promise<readonly string[]> {
  const writer = spawn(process.execPath, [WRITER, directory, String(round)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  writer.stdout.setEncoding('utf8')
  writer.stdout.on('data', (text: string) => {
    said += text
  })
  await Promise.race([once(writer.stdout, 'data'), once(writer, 'exit')])
  await killWithin(writer, Math.random() * LIFE_MS_MAX)
  return said.split('\n').slice(0, -1) // What stands behind the last line break was cut off.
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
