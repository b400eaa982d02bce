import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { BrokerBackend } from '../../../src/broker/backend.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/backend.ts'
import { BrokerError } from '../../../src/broker/error.ts'
import { silentLogger } from '../../../src/config/logger.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'
import { batchOf, nextOffsetOf, recordsOf } from './batch.ts'

export const open = (directory: string) => openEmbeddedBackend(directory, { logger: silentLogger() })

/** Everything that was acknowledged, as a reader sees it. */
export async function contentOf(home: BrokerBackend): Promise<unknown> {
  const topics = await home.metadata({})
  const partitions = topics.flatMap(({ topic, partitions: all }) => all.map(({ partition }) => ({ topic, partition })))
  return {
    clusterId: await home.clusterId(),
    configs: await Promise.all(topics.map(({ topic }) => home.topicConfigs({ topic }))),
    records: await Promise.all(partitions.map(async (at) => ({ ...at, records: await readAll(home, at) }))),
    offsets: await Promise.all(['g', 'h'].map((groupId) => home.groupOffsets({ groupId }))),
  }
}

async function readAll(home: BrokerBackend, at: { readonly topic: string; readonly partition: number }) {
  const records: unknown[] = []
  const request = { node: 0, waitMsMax: 0, bytesMin: 1, bytesMax: 1e6, isolation: 'read_committed' as const }
  for (let offset = 0; ; ) {
    const [fetched] = await home.fetch({ ...request, partitions: [{ ...at, offset }] })
    if (fetched!.error !== undefined) throw new BrokerError(fetched!.error.code, fetched!.error.message)
    records.push(...recordsOf(fetched!.bytes))
    offset = nextOffsetOf(fetched!.bytes) ?? offset
    if (offset >= fetched!.endOffset) return { records, end: fetched!.endOffset }
  }
}

export async function write(home: BrokerBackend, round: number): Promise<void> {
  for (const [index, bytes] of [20, 3_000, 40_000].entries()) {
    const records = [{ key: `k${round % 3}`, value: `${round}/${index} ${'x'.repeat(bytes)}` }]
    const batches = [{ topic: index === 1 ? 'b' : 'a', partition: index === 2 ? 1 : 0, bytes: batchOf(records) }]
    expect((await home.produce({ node: 0, timeoutMs: 1, batches }))[0]?.error).toBeUndefined()
  }
  await home.commitOffsets({ groupId: 'g', offsets: [{ topic: 'a', partition: 0, offset: round }] })
  if (round % 4 === 0) await home.createTopic({ name: `t${round}`, configs: { 'cleanup.policy': 'compact' } })
  const producer = { ...(await home.initProducer({ transactionalId: 'x' })), transactionalId: 'x' }
  await home.addPartitionsToTransaction({ ...producer, partitions: [{ topic: 'a', partition: 0 }] })
  const bytes = batchOf([`moved ${round}`], { ...producer, sequence: 0, transactional: true })
  await home.produce({ node: 0, timeoutMs: 1, transactionalId: 'x', batches: [{ topic: 'a', partition: 0, bytes }] })
  await home.commitOffsetsInTransaction({
    ...producer,
    groupId: 'h',
    offsets: [{ topic: 'b', partition: 0, offset: round }],
  })
  await home.endTransaction({ ...producer, commit: round % 3 !== 0 })
}

export type Snapshot = { readonly directory: string; readonly content: unknown }

/** The life of a directory, with a copy of its files as a killed process would leave them after each step. */
export async function recordSnapshots(): Promise<readonly Snapshot[]> {
  const root = memoryDirectory()
  const directory = join(root, 'data')
  const snapshots: Snapshot[] = []
  let home = await open(directory)
  const take = (content: unknown) => {
    const copy = join(root, `copy-${snapshots.length}`)
    cpSync(directory, copy, { recursive: true })
    snapshots.push({ directory: copy, content })
  }
  await home.createTopic({ name: 'a', partitions: 2, configs: { 'retention.ms': '-1' } })
  await home.createTopic({ name: 'b', configs: { 'retention.ms': '-1' } })
  take(await contentOf(home))
  for (let round = 1; round <= 12; round++) {
    await write(home, round)
    const content = await contentOf(home)
    take(content)
    if (round % 3 !== 0) continue
    await home.close()
    take(content)
    home = await open(directory)
    take(content)
  }
  await home.close()
  return snapshots
}
