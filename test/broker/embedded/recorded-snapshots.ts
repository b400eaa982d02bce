import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { BrokerBackend } from '../../../src/broker/broker-backend.ts'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'
import { batchOf, nextOffsetOf, recordsOf } from './batch.ts'

export const open = (directory: string) => openEmbeddedBackend(directory, { logger: silentLogger() })

/** All acknowledged data as a reader sees it. */
export async function contentOf(backend: BrokerBackend): Promise<unknown> {
  const topics = await backend.metadata({})
  const partitions = topics.flatMap(({ topic, partitions: all }) => all.map(({ partition }) => ({ topic, partition })))
  return {
    clusterId: await backend.clusterId(),
    configs: await Promise.all(topics.map(({ topic }) => backend.topicConfigs({ topic }))),
    records: await Promise.all(partitions.map(async (at) => ({ ...at, records: await readAll(backend, at) }))),
    offsets: await Promise.all(['g', 'h'].map((groupId) => backend.groupOffsets({ groupId }))),
  }
}

async function readAll(backend: BrokerBackend, at: { readonly topic: string; readonly partition: number }) {
  const records: unknown[] = []
  const request = { node: 0, waitMsMax: 0, bytesMin: 1, bytesMax: 1e6, isolation: 'read_committed' as const }
  for (let offset = 0; ; ) {
    const [fetched] = await backend.fetch({ ...request, partitions: [{ ...at, offset }] })
    if (fetched!.error !== undefined) throw new BrokerError(fetched!.error.code, fetched!.error.message)
    records.push(...recordsOf(fetched!.bytes))
    offset = nextOffsetOf(fetched!.bytes) ?? offset
    if (offset >= fetched!.endOffset) return { records, end: fetched!.endOffset }
  }
}

export async function write(backend: BrokerBackend, round: number): Promise<void> {
  for (const [index, bytes] of [20, 3_000, 40_000].entries()) {
    const records = [{ key: `k${round % 3}`, value: `${round}/${index} ${'x'.repeat(bytes)}` }]
    const batches = [{ topic: index === 1 ? 'b' : 'a', partition: index === 2 ? 1 : 0, bytes: batchOf(records) }]
    expect((await backend.produce({ node: 0, timeoutMs: 1, batches }))[0]?.error).toBeUndefined()
  }
  await backend.commitOffsets({ groupId: 'g', offsets: [{ topic: 'a', partition: 0, offset: round }] })
  if (round % 4 === 0) await backend.createTopic({ name: `t${round}`, configs: { 'cleanup.policy': 'compact' } })
  const producer = { ...(await backend.initProducer({ transactionalId: 'x' })), transactionalId: 'x' }
  await backend.addPartitionsToTransaction({ ...producer, partitions: [{ topic: 'a', partition: 0 }] })
  const bytes = batchOf([`moved ${round}`], { ...producer, sequence: 0, transactional: true })
  await backend.produce({ node: 0, timeoutMs: 1, transactionalId: 'x', batches: [{ topic: 'a', partition: 0, bytes }] })
  await backend.commitOffsetsInTransaction({
    ...producer,
    groupId: 'h',
    offsets: [{ topic: 'b', partition: 0, offset: round }],
  })
  await backend.endTransaction({ ...producer, commit: round % 3 !== 0 })
}

export type Snapshot = { readonly directory: string; readonly content: unknown }

/** Uses a directory step by step, with a copy of its files after each step, as a killed process would leave them. */
export async function recordSnapshots(): Promise<readonly Snapshot[]> {
  const root = memoryDirectory()
  const directory = join(root, 'data')
  const snapshots: Snapshot[] = []
  let backend = await open(directory)
  const take = (content: unknown) => {
    const copy = join(root, `copy-${snapshots.length}`)
    cpSync(directory, copy, { recursive: true })
    snapshots.push({ directory: copy, content })
  }
  await backend.createTopic({ name: 'a', partitions: 2, configs: { 'retention.ms': '-1' } })
  await backend.createTopic({ name: 'b', configs: { 'retention.ms': '-1' } })
  take(await contentOf(backend))
  for (let round = 1; round <= 12; round++) {
    await write(backend, round)
    const content = await contentOf(backend)
    take(content)
    if (round % 3 !== 0) continue
    await backend.close()
    take(content)
    backend = await open(directory)
    take(content)
  }
  await backend.close()
  return snapshots
}
