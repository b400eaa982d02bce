import type { SinkRecord, SourceRecord } from '../sdk/index.ts'
import { ChainCodec, type ChainItem, type ChainResult } from './chain-codec.ts'
import type { FrameReader } from './frame-reader.ts'
import type { FrameWriter } from './frame-writer.ts'
import type { HostConnection } from './host-connection.ts'
import { type ChainResults, type RecordChainOptions, writeItems } from './record-chain.ts'
import { readConnectRecord } from './record-codec.ts'

// Chains beside a Java connector run in its JVM on the connection of its task, so that they add no crossing.

/** The chains of the tasks in this thread, by the name of the task. A connector takes its chain when it starts. */
export class ConnectorChains {
  readonly #sources = new Map<string, SourceChain>()
  readonly #sinks = new Map<string, SinkChain>()

  open(options: RecordChainOptions): SourceChain | SinkChain {
    return options.isSink
      ? register(this.#sinks, options.name, (onClose) => new SinkChain(options, onClose))
      : register(this.#sources, options.name, (onClose) => new SourceChain(options, onClose))
  }

  ofSource(name: string): SourceChain | undefined {
    return this.#sources.get(name)
  }

  ofSink(name: string): SinkChain | undefined {
    return this.#sinks.get(name)
  }
}

function register<Chain>(chains: Map<string, Chain>, name: string, create: (onClose: () => void) => Chain): Chain {
  const chain = create(() => {
    if (chains.get(name) === chain) chains.delete(name)
  })
  chains.set(name, chain)
  return chain
}

type Outcome = ChainResults['outcomes'][number]
type SourceResult = { readonly outcome: Outcome; readonly item: ChainResult | undefined }

/** A chain behind a source: the host applies it to what `poll` returns, and sends the results instead. */
export class SourceChain {
  readonly options: RecordChainOptions
  readonly #codec: ChainCodec
  readonly #onClose: () => void
  readonly #results = new WeakMap<SourceRecord, SourceResult>()
  #retries = 0

  constructor(options: RecordChainOptions, onClose: () => void) {
    this.options = options
    this.#codec = codecOf(options)
    this.#onClose = onClose
  }

  readRetries(body: FrameReader): void {
    this.#retries += body.varint()
  }

  /** Reads the result of one record. A record that passed has all of its data or bytes in the result. */
  readRecord(body: FrameReader): SourceRecord {
    const sourcePartition = body.sourcePosition()
    const sourceOffset = body.sourcePosition()
    const item = emptyResult()
    const outcome = this.#codec.read(body, item)
    const isFailed = typeof outcome === 'object'
    const { partition, ...data } = isFailed ? readConnectRecord(body) : item.record
    const record = { ...data, ...(partition !== undefined && { partition }), sourcePartition, sourceOffset }
    this.#results.set(record, { outcome, item: outcome === 'passed' ? item : undefined })
    return record
  }

  async apply(items: readonly ChainItem[]): Promise<ChainResults> {
    const outcomes = items.map((item) => {
      const result = this.#results.get(item.origin as SourceRecord)
      if (result === undefined) throw new Error('the host did not send a record of the source')
      if (result.item !== undefined) {
        const { record, key, value, headers, isSelected } = result.item
        Object.assign(item, { record, key, value, headers, isSelected })
      }
      return result.outcome
    })
    const retries = this.#retries
    this.#retries = 0
    return { outcomes, retries }
  }

  /** The host ends retries when the task stops. */
  interrupt(): void {}

  close(): void {
    this.#onClose()
  }
}

/** A chain before a sink: the host keeps the results, and `put` names them. */
export class SinkChain {
  readonly options: RecordChainOptions
  readonly #codec: ChainCodec
  readonly #onClose: () => void
  /** Numbers of the results that the host keeps, by the record that stands for them here. */
  readonly #numbers = new WeakMap<SinkRecord, number>()
  #sent = 0
  #connection: HostConnection | undefined

  constructor(options: RecordChainOptions, onClose: () => void) {
    this.options = options
    this.#codec = codecOf(options)
    this.#onClose = onClose
  }

  connect(connection: HostConnection): void {
    this.#connection = connection
    this.#sent = 0
  }

  async apply(items: readonly ChainItem[]): Promise<ChainResults> {
    const connection = this.#connection
    if (connection === undefined) throw new Error('the sink has not been started')
    const outcomes: Outcome[] = []
    let retries = 0
    while (outcomes.length < items.length) {
      const from = outcomes.length
      const body = await connection.request('sink.convert', (request) =>
        writeItems(request, this.#codec, items, outcomes),
      )
      retries += body.varint()
      for (let at = from; at < outcomes.length; at++) {
        if (outcomes[at] !== 'passed') continue
        const outcome = this.#codec.readOutcome(body)
        outcomes[at] = outcome
        this.#numbers.set(items[at]!.record as SinkRecord, this.#sent++)
      }
    }
    return { outcomes, retries }
  }

  /** Writes which results to put. */
  writePut(body: FrameWriter, records: readonly SinkRecord[]): void {
    body.varint(records.length)
    for (const record of records) {
      const number = this.#numbers.get(record)
      if (number === undefined) throw new Error('a record was not converted by the host of its sink')
      body.int64(number)
    }
  }

  interrupt(): void {
    this.#connection?.event('chain.interrupt')
  }

  close(): void {
    this.#onClose()
  }
}

function codecOf({ isSink, steps }: RecordChainOptions): ChainCodec {
  return new ChainCodec(
    isSink,
    steps.map(({ role }) => role),
  )
}

function emptyResult(): ChainResult {
  const record = {
    topic: '',
    key: null,
    keySchema: null,
    value: null,
    valueSchema: null,
    headers: [],
    timestampMs: null,
  }
  return { record, key: null, value: null, headers: [], isSelected: false }
}
