import type { Broker, StoredRecord } from '../../broker/broker.ts'
import { entryPoint } from '../../common/program-files.ts'
import type { DeadLetterPosition } from '../../dead-letters/replay-marks.ts'
import { BrokerThreads, type BrokerThreadsOptions } from '../isolation/broker-threads.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { ScanRequest, ScanResult } from './dead-letter-scan.ts'

type ReadRequest = { readonly topic: string; readonly positions: readonly DeadLetterPosition[] }

export type DeadLetterThreadRequest = ({ readonly do: 'scan' } & ScanRequest) | ({ readonly do: 'read' } & ReadRequest)

export type DeadLetterThreadResult =
  | { readonly done: 'scan'; readonly result: ScanResult | undefined }
  | { readonly done: 'read'; readonly result: readonly (StoredRecord | undefined)[] }

export type DeadLetterReaderOptions = Pick<BrokerThreadsOptions<null>, 'timeoutMs' | 'idleMs'>

/** Reads dead letters in threads. */
export class DeadLetterReader {
  readonly #threads: BrokerThreads<null, DeadLetterThreadRequest, DeadLetterThreadResult>

  constructor(broker: Broker, options: DeadLetterReaderOptions = {}) {
    this.#threads = new BrokerThreads(broker, {
      ...options,
      entry: entryPoint('worker/dead-letters/dead-letter-thread-main'),
      name: 'dead letters',
      data: null,
      full: (waiting) =>
        new WorkerError('dead_letters_busy', `${waiting} requests for dead letters wait already: try again`),
    })
  }

  /** Undefined if the topic does not exist. */
  async scan(request: ScanRequest): Promise<ScanResult | undefined> {
    const done = await this.#run({ do: 'scan', ...request })
    return done.done === 'scan' ? done.result : undefined
  }

  /** Whole records; undefined for one that does not exist. */
  async read(topic: string, positions: readonly DeadLetterPosition[]): Promise<readonly (StoredRecord | undefined)[]> {
    const done = await this.#run({ do: 'read', topic, positions })
    return done.done === 'read' ? done.result : []
  }

  /** Ends the threads. */
  close(): Promise<void> {
    return this.#threads.close()
  }

  async #run(request: DeadLetterThreadRequest): Promise<DeadLetterThreadResult> {
    const done = await this.#threads.run(request)
    if ('result' in done) return done.result
    throw new WorkerError(
      'dead_letters_unreadable',
      `the dead-letter topic '${request.topic}' cannot be read: ${done.failed}`,
    )
  }
}
