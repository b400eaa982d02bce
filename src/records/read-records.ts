import type { Broker, StoredRecord } from '../broker/broker.ts'
import { BrokerError } from '../broker/broker-error.ts'
import { offsetRanges } from './offset-ranges.ts'
import { readRanges } from './read-ranges.ts'

/** How long the brokers may return nothing: the default of `request.timeout.ms`. */
const IDLE_MS_MAX = 30_000

/**
 * Reads single records, one after the other. Undefined for one that does not exist (any more). Throws a `BrokerError` with the code
 * `timeout` if the brokers do not return a record that exists.
 */
export async function* readRecords(
  broker: Broker,
  topic: string,
  positions: readonly { readonly partition: number; readonly offset: number }[],
): AsyncGenerator<StoredRecord | undefined> {
  const { ranges = [] } = (await offsetRanges(broker, { topic, from: 'beginning' })) ?? {}
  for (const { partition, offset } of positions) {
    const range = ranges.find((one) => one.partition === partition)
    if (range === undefined || offset < range.from || offset >= range.to) {
      yield undefined
      continue
    }
    let record: StoredRecord | undefined
    const one = { partition, from: offset, to: offset + 1 }
    const { isIdle } = await readRanges(
      broker,
      topic,
      [one],
      async (_, found) => {
        record = found
        return 'continue'
      },
      IDLE_MS_MAX,
    )
    if (isIdle)
      throw new BrokerError('timeout', `the brokers returned nothing of ${topic}-${partition} for ${IDLE_MS_MAX} ms`)
    yield record
  }
}
