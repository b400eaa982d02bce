import { AsyncQueue } from '../common/async-queue.ts'
import { untilAborted } from '../common/unless-aborted.ts'
import type { Position, SourceConnector, SourceContext, SourceRecord, StoredPosition } from '../sdk/index.ts'
import type { ConnectorChains, SourceChain } from './connector-chains.ts'
import type { FrameReader } from './frame-reader.ts'
import type { FrameWriter } from './frame-writer.ts'
import { HostConnection, readFailure } from './host-connection.ts'
import { ProtocolError } from './host-protocol.ts'
import type { JavaModule } from './java-module.ts'
import { pluginInfo } from './plugin-info.ts'
import type { JavaPluginDescription } from './plugin-location.ts'
import { readPartitions, readSourceRecord } from './record-codec.ts'
import { stopTask } from './task-connection.ts'

/** Bytes of batches that the host may send ahead of the task. One batch may exceed it. */
const CREDIT_BYTES = 4 * 1024 * 1024
/** As in Kafka Connect, a source is polled again when its batch has been written and, at the end of a transaction, committed. */
const CREDIT_BYTES_EXACTLY_ONCE = 1

/** A batch from the host. A record that ends a transaction divides a batch into several. */
type Batch = {
  readonly records: readonly SourceRecord[]
  readonly end: 'commit' | 'abort' | undefined
  /** Set in the last part only: the data for the host once all parts are stored. */
  readonly whole:
    | { readonly number: number | bigint; readonly parts: readonly Batch[]; readonly bytes: number }
    | undefined
}

/** A source connector in a Java host. */
export function javaSource(
  module: JavaModule,
  description: JavaPluginDescription,
  chains: ConnectorChains,
): SourceConnector {
  return {
    ...pluginInfo(description),
    kind: 'source',
    // The connector was asked when its configuration was validated.
    definesTransactions: true,
    poll: (context) => new JavaSourceTask(module, description, context, chains).run(),
  }
}

/** One task. The host calls `poll` while it has credit and sends the batches, which this class yields. */
class JavaSourceTask {
  readonly #module: JavaModule
  readonly #description: JavaPluginDescription
  readonly #context: SourceContext<Record<string, unknown>>
  /** The plugins of the pipeline that run behind the source, in its JVM. */
  readonly #chain: SourceChain | undefined
  /** Batches that the task has not taken yet, by their bytes. */
  readonly #batches = new AsyncQueue<Batch>(CREDIT_BYTES)
  /** The batches that were yielded, until they are stored. */
  readonly #yielded = new WeakMap<readonly SourceRecord[], Batch>()
  /** The parts of the batch whose frames arrive. */
  readonly #frames = new BatchFrames()
  /** Topic positions of the stored parts, kept until the last part of the batch is stored. */
  readonly #positions = new WeakMap<Batch, readonly (StoredPosition | null)[]>()

  constructor(
    module: JavaModule,
    description: JavaPluginDescription,
    context: SourceContext<Record<string, unknown>>,
    chains: ConnectorChains,
  ) {
    this.#module = module
    this.#chain = chains.ofSource(`${context.connector}-${context.task}`)
    this.#description = description
    this.#context = context
  }

  async *run(): AsyncGenerator<readonly SourceRecord[]> {
    const { signal, connector, task, raw, transaction, isExactlyOnce, onStored, onCommitted } = this.#context
    const connection = await HostConnection.open(this.#module.address, { signal })
    const onAbort = () => this.#batches.close()
    try {
      this.#listen(connection)
      signal.addEventListener('abort', onAbort, { once: true })
      const start = connection.call('source.start', {
        class: this.#description.class,
        name: `${connector}-${task}`,
        config: raw,
        isExactlyOnce,
        definesTransactions: transaction !== undefined,
        ...(this.#chain !== undefined && { chain: this.#chain.options }),
      })
      if (!(await untilAborted(start, signal))) return
      onStored((batch, positions) => this.#onStored(connection, batch, positions()))
      onCommitted(() => connection.event('source.committed'))
      sendCredit(connection, isExactlyOnce ? CREDIT_BYTES_EXACTLY_ONCE : CREDIT_BYTES)
      for await (const batch of this.#batches) {
        this.#yielded.set(batch.records, batch)
        if (batch.end !== undefined) transaction?.[batch.end]()
        yield batch.records
        if (batch.whole !== undefined) sendCredit(connection, batch.whole.bytes)
      }
      // The worker stores and commits the last records, and then closes this generator, which stops the task.
      yield []
    } finally {
      signal.removeEventListener('abort', onAbort)
      await stopTask(connection, 'source.stop')
    }
  }

  #listen(connection: HostConnection): void {
    connection.answer('offsets', (body) => this.#readOffsets(body))
    connection.on('source.batch', (body, bytes) => {
      for (const batch of this.#frames.read(body, bytes, this.#chain)) {
        this.#batches.add(batch, batch.whole?.bytes ?? 0)
      }
    })
    connection.on('source.failed', (body) => this.#batches.end(readFailure(body)))
    void connection.lost.then((reason) => this.#batches.end(reason))
  }

  /**
   * The committed offsets of these partitions, null for those without one. A task may confirm them to its origin while it
   * runs, so records that are not stored yet must not count.
   */
  #readOffsets(body: FrameReader): readonly (Position | null)[] {
    return readPartitions(body).map((partition) => this.#context.committedOffset(partition) ?? null)
  }

  #onStored(
    connection: HostConnection,
    records: readonly SourceRecord[],
    positions: readonly (StoredPosition | null)[],
  ): void {
    const batch = this.#yielded.get(records)
    if (batch === undefined) return
    this.#positions.set(batch, positions)
    const { whole } = batch
    if (whole === undefined) return
    const all = whole.parts.flatMap((part) => this.#positions.get(part)!)
    connection.event('source.stored', (body) => writeStored(body, whole.number, all))
  }
}

function sendCredit(connection: HostConnection, bytes: number): void {
  connection.event('source.credit', (body) => body.value(null, bytes))
}

/** Writes the number of a stored batch and the position of each record; null for a filtered record. */
function writeStored(body: FrameWriter, number: number | bigint, positions: readonly (StoredPosition | null)[]): void {
  body.int64(number)
  for (const position of positions) {
    body.uint8(position === null ? 0 : 1)
    if (position === null) continue
    body.string(position.topic)
    body.varint(position.partition)
    body.int64(position.offset)
    body.int64(position.timestampMs ?? -1)
  }
}

const BOUNDARIES = [undefined, 'commit', 'abort'] as const
/** What follows a record of a frame, or its beginning. */
const NEXT = { endOfBatch: 0, record: 1, endOfFrame: 2 } as const

/** Joins the frames of a batch, and divides it after each record that ends a transaction. */
class BatchFrames {
  #number: number | bigint | undefined
  #bytes = 0
  #parts: Batch[] = []
  #records: SourceRecord[] = []
  #end: Batch['end']

  /** Reads one frame. Returns the parts of the batch if it is complete. */
  read(body: FrameReader, frameBytes: number, chain: SourceChain | undefined): readonly Batch[] {
    this.#bytes += frameBytes
    if (this.#number === undefined) {
      this.#number = body.int64()
      chain?.readRetries(body)
    }
    let next = body.uint8()
    for (; next === NEXT.record; next = body.uint8()) {
      if (this.#end !== undefined) {
        this.#parts.push({ records: this.#records, end: this.#end, whole: undefined })
        this.#records = []
      }
      this.#end = BOUNDARIES[body.uint8()]
      this.#records.push(chain === undefined ? readSourceRecord(body) : chain.readRecord(body))
    }
    if (next === NEXT.endOfFrame) return []
    if (next !== NEXT.endOfBatch) throw new ProtocolError(`nothing in a batch begins with ${next}`)
    return this.#complete(BOUNDARIES[body.uint8()])
  }

  #complete(endOfBatch: Batch['end']): readonly Batch[] {
    const parts = this.#parts
    // The host sends at most one of the two.
    const end = this.#end ?? endOfBatch
    parts.push({ records: this.#records, end, whole: { number: this.#number!, parts, bytes: this.#bytes } })
    this.#number = undefined
    this.#bytes = 0
    this.#parts = []
    this.#records = []
    this.#end = undefined
    return parts
  }
}
