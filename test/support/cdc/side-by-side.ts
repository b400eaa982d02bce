import { randomUUID } from 'node:crypto'
import type { Broker } from '../../../src/broker/broker.ts'
import { undefinedIfNotFound } from '../../../src/clients/http-client.ts'
import type { Database } from '../database.ts'
import { postgresSource } from '../debezium.ts'
import { openDisposableBroker, readRecords } from '../topic.ts'
import { until } from '../until.ts'
import type { CdcWorker } from './cdc-workers.ts'
import type { ConnectorProfile } from './connector-profiles.ts'
import { type ChangeEvent, type EventComparison, parseEvent } from './event-comparison.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter'
const SHOWN_CHARS = 3_000

type Connector = { readonly worker: CdcWorker; readonly prefix: string; readonly delimiter: string }
type Pair = { readonly profile: ConnectorProfile; readonly left: Connector; readonly right: Connector }

export type SideBySideOptions = {
  readonly bootstrap: string
  readonly database: Database
  readonly workers: readonly [left: CdcWorker, right: CdcWorker]
  readonly profiles: readonly ConnectorProfile[]
}

/** Pairs of connectors of two workers, which read one database through slots of their own. */
export class SideBySide implements AsyncDisposable {
  readonly #broker: Broker
  readonly #database: Database
  readonly #pairs: readonly Pair[]
  #markers = 0

  private constructor(broker: Broker, database: Database, pairs: readonly Pair[]) {
    this.#broker = broker
    this.#database = database
    this.#pairs = pairs
  }

  /** Creates the connectors and waits for the end of their snapshots. */
  static async start({ bootstrap, database, workers, profiles }: SideBySideOptions): Promise<SideBySide> {
    const broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
    await database.run('CREATE TABLE markers (id integer PRIMARY KEY)')
    const id = randomUUID().slice(0, 8)
    const pairs = profiles.map((profile, index): Pair => {
      const delimiter = profile.config['topic.delimiter'] ?? '.'
      const connector = (worker: CdcWorker, side: string) => ({ worker, prefix: `${side}${index}_${id}`, delimiter })
      return { profile, left: connector(workers[0], 'left'), right: connector(workers[1], 'rght') }
    })
    const run = new SideBySide(broker, database, pairs)
    for (const { profile, left, right } of pairs) {
      for (const { worker, prefix } of [left, right])
        await worker.client.create(prefix, sideConfig(database, prefix, profile))
    }
    await until('all slots to be read', WAIT, async () => {
      const [slots] = await database.run('SELECT count(*)::int AS active FROM pg_replication_slots WHERE active')
      if (slots?.['active'] === 2 * profiles.length) return true
      await run.#refuseFailed()
      return false
    })
    await run.untilRead()
    return run
  }

  /** Waits until all connectors have written what the database contains now. */
  async untilRead(): Promise<void> {
    this.#markers += 1
    await this.#database.run(`INSERT INTO markers VALUES (${this.#markers})`)
    for (const connector of this.#connectors()) {
      await until(`marker ${this.#markers} in the topic of ${connector.prefix}`, WAIT, async () => {
        if ((await this.#countMarkers(connector)) >= this.#markers) return true
        await this.#refuseFailed()
        return false
      })
    }
  }

  /** Stops the connectors, and describes what differs in each topic. */
  async differences(comparison: EventComparison): Promise<readonly string[]> {
    await this.#stop()
    const found: string[] = []
    for (const { profile, left, right } of this.#pairs) {
      const [ours, theirs] = [await this.#events(left), await this.#events(right)]
      const names = new Set([...ours.keys(), ...theirs.keys()])
      for (const topic of [...names].sort()) {
        const sides = { left: left.worker.name, right: right.worker.name }
        const expected = comparison.expected(profile.config, topic, theirs.get(topic) ?? [])
        const differences = describeDifferences(sides, ours.get(topic) ?? [], expected, comparison)
        if (differences.length > 0) found.push(`── ${profile.name}, ${topic}: ${differences.join('\n')}`)
      }
    }
    return found
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { worker, prefix } of this.#connectors()) await worker.client.delete(prefix).catch(() => undefined)
    await this.#broker.close()
  }

  async #countMarkers({ prefix, delimiter }: Connector): Promise<number> {
    const topic = [prefix, 'public', 'markers'].join(delimiter)
    if ((await this.#broker.topics.describe(topic)) === undefined) return 0
    return (await this.#broker.topics.offsets(topic, 'latest'))[0]!.offset
  }

  /** Topics by name without the prefix. */
  async #events({ prefix }: Connector): Promise<ReadonlyMap<string, readonly ChangeEvent[]>> {
    const names = (await this.#broker.topics.list()).filter((name) => name.includes(prefix))
    const events = new Map<string, readonly ChangeEvent[]>()
    for (const name of names) {
      const records = await readRecords(this.#broker, name)
      // The number of heartbeats depends on the time.
      const compared = name.startsWith(prefix) ? records : records.slice(0, 1)
      events.set(
        name.replace(prefix, ''),
        compared.map((record) => parseEvent(record, prefix)),
      )
    }
    return events
  }

  /** A task that has ended has written all records that it read, also to topics without a marker. */
  async #stop(): Promise<void> {
    for (const { worker, prefix } of this.#connectors()) await worker.client.stop(prefix)
    for (const { worker, prefix } of this.#connectors()) {
      await until(`${prefix} to stop`, WAIT, async () => {
        const { connector, tasks } = await worker.client.status(prefix)
        return connector.state === 'STOPPED' && tasks.length === 0
      })
    }
  }

  #connectors(): readonly Connector[] {
    return this.#pairs.flatMap(({ left, right }) => [left, right])
  }

  async #refuseFailed(): Promise<void> {
    for (const { worker, prefix } of this.#connectors()) {
      // A connector that was just created has no status yet.
      const status = await undefinedIfNotFound(worker.client.status(prefix))
      const failed = [status?.connector, ...(status?.tasks ?? [])].find((one) => one?.state === 'FAILED')
      if (failed !== undefined) throw new Error(`${worker.name}, ${prefix}: ${failed.trace}\n${worker.log()}`)
    }
  }
}

export function sideConfig(
  database: Database,
  prefix: string,
  profile: ConnectorProfile,
): Readonly<Record<string, string>> {
  const { 'table.include.list': _, ...source } = postgresSource(database, prefix, [])
  return {
    ...source,
    'slot.name': prefix,
    'publication.name': prefix,
    'heartbeat.interval.ms': '0',
    // Debezium would write them as events.
    'heartbeat.message.interval.ms': '0',
    'poll.interval.ms': '50',
    'header.converter': JSON_CONVERTER,
    'value.converter.replace.null.with.default': 'false',
    'key.converter.replace.null.with.default': 'false',
    ...profile.config,
  }
}

/** One text for each member that differs, with the first events that do. */
export function describeDifferences(
  sides: { readonly left: string; readonly right: string },
  left: readonly ChangeEvent[],
  right: readonly ChangeEvent[],
  comparison: EventComparison,
): readonly string[] {
  const count = Math.min(left.length, right.length)
  const found = new Map<string, string>()
  for (let at = 0; at < count; at++) {
    for (const { path, left: ours, right: theirs } of comparison.differences(left[at]!, right[at]!)) {
      if (found.has(path)) continue
      const event =
        found.size === 0
          ? `\n  event of ${sides.left}: ${shownEvent(left[at]!)}\n  event of ${sides.right}: ${shownEvent(right[at]!)}`
          : ''
      found.set(path, `event ${at}: ${path}: ${sides.left} ${shown(ours)}, ${sides.right} ${shown(theirs)}${event}`)
    }
  }
  if (left.length === right.length) return [...found.values()]
  const [longer, more] = left.length > right.length ? [sides.left, left] : [sides.right, right]
  return [
    ...found.values(),
    `${left.length} events of ${sides.left} and ${right.length} of ${sides.right}; the next of ${longer}: ${shownEvent(more[count]!)}`,
  ]
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, SHOWN_CHARS)
}

/** Without schemas, which are long; a difference in a schema is shown by its path. */
function shownEvent({ key, value, headers }: ChangeEvent): string {
  const payload = (part: unknown): unknown => (part === null ? null : Reflect.get(Object(part), 'payload'))
  return shown({
    key: payload(key),
    value: payload(value),
    headers: headers.map(([name, one]) => [name, payload(one)]),
  })
}
