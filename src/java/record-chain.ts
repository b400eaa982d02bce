import { ChainCodec, type ChainItem, type ChainOutcome, type ChainRole } from './chain-codec.ts'
import type { FrameWriter } from './frame-writer.ts'
import { type HostAddress, HostConnection } from './host-connection.ts'

/** A plugin of a location, and what it does in a chain. */
export type ChainStep = {
  readonly role: ChainRole
  /** The path of its location. */
  readonly location: string
  readonly class: string
  readonly config: Readonly<Record<string, string>>
  /** Whether a transformation is applied only to records that the predicate before it has selected. */
  readonly isConditional: boolean
  /** Whether a predicate selects the records that it does not match. */
  readonly isNegated: boolean
}

export type RecordChainOptions = {
  /** Name of the task in log lines: `CONNECTOR-TASK`. */
  readonly name: string
  readonly isSink: boolean
  readonly steps: readonly ChainStep[]
  /** Negative for no limit. */
  readonly retryTimeoutMs: number
  readonly retryDelayMsMax: number
}

/** Limits of one request: records, and about the bytes. One record may exceed the latter. */
const REQUEST_RECORDS_MAX = 500
const REQUEST_BYTES_MAX = 4 * 1024 * 1024

export type ChainResults = {
  /** In the order of the items. */
  readonly outcomes: readonly (ChainOutcome | { readonly failed: unknown; readonly step: number })[]
  readonly retries: number
}

/** Consecutive Java parts of a task's pipeline, in one JVM. Each batch crosses to it once in each direction. */
export class RecordChain {
  readonly #connection: HostConnection
  readonly #codec: ChainCodec

  private constructor(connection: HostConnection, { isSink, steps }: RecordChainOptions) {
    this.#connection = connection
    this.#codec = new ChainCodec(
      isSink,
      steps.map(({ role }) => role),
    )
  }

  /** Creates and configures the plugins. Rejects with a `JavaPluginError` when one of them throws. */
  static async open(address: HostAddress, options: RecordChainOptions, signal?: AbortSignal): Promise<RecordChain> {
    const connection = await HostConnection.open(address, signal && { signal })
    try {
      await connection.call('chain.open', options)
      return new RecordChain(connection, options)
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** Applies the chain to each item, and changes the items that pass. Rejects when an error concerns more than a record. */
  async apply(items: readonly ChainItem[]): Promise<ChainResults> {
    const outcomes: ChainResults['outcomes'][number][] = []
    let retries = 0
    while (outcomes.length < items.length) {
      const from = outcomes.length
      const body = await this.#connection.request('chain.apply', (request) =>
        writeItems(request, this.#codec, items, outcomes),
      )
      retries += body.varint()
      for (let at = from; at < outcomes.length; at++) {
        const item = items[at]
        if (item !== undefined && outcomes[at] === 'passed') outcomes[at] = this.#codec.read(body, item)
      }
    }
    return { outcomes, retries }
  }

  /** Ends retries that wait, because the task has to stop. */
  interrupt(): void {
    this.#connection.event('chain.interrupt')
  }

  /** The host closes the plugins when their connection ends. */
  close(): void {
    this.#connection.close()
  }
}

/** Writes the next items as one request, and appends an outcome for each; `passed` for those whose result is awaited. */
export function writeItems(
  body: FrameWriter,
  codec: ChainCodec,
  items: readonly ChainItem[],
  outcomes: ChainResults['outcomes'][number][],
): void {
  const from = outcomes.length
  for (const item of items.slice(from, from + REQUEST_RECORDS_MAX)) {
    const start = body.length
    if (start > REQUEST_BYTES_MAX) break
    try {
      body.uint8(1)
      codec.write(body, item)
      outcomes.push('passed')
    } catch (failed) {
      body.truncate(start)
      outcomes.push({ failed, step: 0 })
    }
  }
  body.uint8(0)
}
