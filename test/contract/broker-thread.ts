import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { BrokerAddress } from '../../src/broker/broker-address.ts'

/** Writes and reads a record in another thread, and returns what was read. */
export async function runInThread(address: BrokerAddress, topic: string): Promise<unknown> {
  const worker = new Worker(new URL('broker-thread-worker.ts', import.meta.url), {
    workerData: { address, topic },
    transferList: address.kind === 'thread' ? [address.port] : [],
  })
  const failed = once(worker, 'error').then(([error]) => Promise.reject(error))
  const [read] = await Promise.race([once(worker, 'message'), failed])
  await worker.terminate()
  return read
}
