import type { BrokerBackend, FetchedPartition } from '../../src/broker/broker-backend.ts'
import { batchesOf } from '../../src/broker/record-batch/batch-header.ts'

/** Returns the damaged bytes of a stored batch. */
export type Damage = (batch: Buffer, baseOffset: number) => Uint8Array

/** A backend whose batches are damaged in the same way on each read, as by a damaged disk. */
export function createDamagedBackend(backend: BrokerBackend, damage: Damage): BrokerBackend {
  const fetch: BrokerBackend['fetch'] = async (request) =>
    (await backend.fetch(request)).map((one) => damaged(one, damage))
  return new Proxy(backend, {
    get: (_, name: keyof BrokerBackend) => (name === 'fetch' ? fetch : backend[name].bind(backend)),
  })
}

/** Damages the batch with this base offset. */
export function damagedAt(offset: number, change: (batch: Buffer) => Uint8Array): Damage {
  return (batch, baseOffset) => (baseOffset === offset ? change(Buffer.from(batch)) : batch)
}

export function flipBit(bytes: Buffer, bit: number): Buffer {
  bytes[bit >> 3]! ^= 1 << (bit & 7)
  return bytes
}

function damaged(answer: FetchedPartition, damage: Damage): FetchedPartition {
  const batches = [...batchesOf(answer.bytes)].map(({ bytes, baseOffset }) => damage(bytes, baseOffset))
  return { ...answer, bytes: Buffer.concat(batches) }
}
