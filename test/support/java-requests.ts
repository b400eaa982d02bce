import { RequestError } from '../../src/clients/http-client.ts'
import { createWorkerClient, type WorkerClient } from '../../src/clients/worker-client.ts'
import { until } from './until.ts'

// A worker of Kafka Connect refuses a write with 409 while it expects a rebalance, which the write before it may have caused.

const WAIT = { everyMs: 50, timeoutMs: 120_000 }

/** A client of a worker of Kafka Connect that sends a refused write again when the worker has rebalanced. */
export function createJavaClient(url: string): WorkerClient {
  const client = createWorkerClient({ url, timeoutMs: 120_000 })
  const again =
    <Args extends readonly unknown[], Result>(send: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      let result: { readonly value: Result } | undefined
      await until('the worker to rebalance', WAIT, async () => {
        try {
          result = { value: await send(...args) }
          return true
        } catch (error) {
          if (error instanceof RequestError && error.status === 409 && error.retriable) return false
          throw error
        }
      })
      return result!.value
    }
  return {
    ...client,
    create: again(client.create),
    putConfig: again(client.putConfig),
    delete: again(client.delete),
    stop: again(client.stop),
    alterOffsets: again(client.alterOffsets),
  }
}

/** Sends a request to a worker of Kafka Connect, and again when it has rebalanced. */
export async function fetchFromJava(url: string, init: RequestInit): Promise<Response> {
  let response: Response | undefined
  await until('the worker to rebalance', WAIT, async () => {
    response = await fetch(url, init)
    return response.status !== 409
  })
  return response!
}
