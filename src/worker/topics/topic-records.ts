import type { Broker } from '../../broker/broker.ts'
import { entryPoint } from '../../common/program-files.ts'
import type { RecordScan } from '../../records/scan-records.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { BrokerThreads, type BrokerThreadsOptions } from '../isolation/broker-threads.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { PreviewedStoredRecord } from '../plugin-host.ts'
import type { RecordView } from './describe-record.ts'

/** What threads need besides the broker. */
export type RecordThreadData = {
  /** Settings of a converter that uses a registry; undefined if the worker has none. */
  readonly registry: RawConfig | undefined
  readonly maskedTags: readonly string[]
}

export type RecordRequest =
  | {
      readonly do: 'scan'
      readonly scan: RecordScan
      readonly search?: string
      /** Maximum length of a key or a value in characters. */
      readonly textMax: number
    }
  | { readonly do: 'read'; readonly topic: string; readonly partition: number; readonly offset: number }
  | { readonly do: 'sample'; readonly topic: string; readonly limit: number }

/** A record with masked fields, as it is shown and as it is stored. */
export type SampledRecord = {
  readonly view: RecordView
  /** Undefined if it is only shown, for the reason in `problem`. */
  readonly stored: Omit<PreviewedStoredRecord, 'topic'> | undefined
  readonly problem: string | null
}

/** Undefined if the topic or the record does not exist. */
export type RecordResponse = string | readonly SampledRecord[] | undefined

export type TopicRecordsOptions = RecordThreadData &
  Pick<BrokerThreadsOptions<RecordThreadData>, 'timeoutMs' | 'idleMs'> & {
    /** Whether a program of this installation uses the topic for itself. */
    readonly isProgramTopic: (topic: string) => boolean
  }

/** Reads and decodes records of topics in threads. Responses are JSON, except of `sample`. Every method may reject with a `WorkerError`. */
export class TopicRecords {
  readonly #isProgramTopic: TopicRecordsOptions['isProgramTopic']
  readonly #threads: BrokerThreads<RecordThreadData, RecordRequest, RecordResponse>

  constructor(broker: Broker, { registry, maskedTags, isProgramTopic, ...options }: TopicRecordsOptions) {
    this.#isProgramTopic = isProgramTopic
    this.#threads = new BrokerThreads(broker, {
      ...options,
      entry: entryPoint('worker/topics/record-thread-main'),
      name: 'records',
      data: { registry, maskedTags },
      full: (waiting) => new WorkerError('records_busy', `${waiting} requests for records wait already: try again`),
    })
  }

  async scan(request: Omit<Extract<RecordRequest, { do: 'scan' }>, 'do'>): Promise<string> {
    const found = await this.#run({ do: 'scan', ...request }, request.scan.topic)
    if (found === undefined) {
      const { topic, partition } = request.scan
      throw new WorkerError(
        'topic_not_found',
        partition === undefined
          ? `there is no topic '${topic}'`
          : `there is no partition ${partition} of topic '${topic}'`,
      )
    }
    return found as string
  }

  async read(topic: string, position: { readonly partition: number; readonly offset: number }): Promise<string> {
    const found = await this.#run({ do: 'read', topic, ...position }, topic)
    if (found === undefined)
      throw new WorkerError(
        'record_not_found',
        `the topic '${topic}' has no record ${position.partition}/${position.offset}: it was deleted after its retention time or by compaction, or never existed`,
      )
    return found as string
  }

  /** The newest records, the newest first; undefined if the topic does not exist. */
  async sample(topic: string, limit: number): Promise<readonly SampledRecord[] | undefined> {
    return (await this.#run({ do: 'sample', topic, limit }, topic)) as readonly SampledRecord[] | undefined
  }

  /** Ends the threads. */
  close(): Promise<void> {
    return this.#threads.close()
  }

  async #run(request: RecordRequest, topic: string): Promise<RecordResponse> {
    // They contain secrets of connectors and keys of workers.
    if (this.#isProgramTopic(topic))
      throw new WorkerError(
        'records_refused',
        `the records of topic '${topic}' are not shown: a program of this installation uses it for itself`,
      )
    const done = await this.#threads.run(request)
    if ('failed' in done)
      throw new WorkerError('records_unreadable', `the records of topic '${topic}' cannot be read: ${done.failed}`)
    return done.result
  }
}
