import { openBroker } from '../../../src/broker/open-broker.ts'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { schemaText, subjectOf, VERSIONS } from './schemas.ts'

export type RegistrationTask = {
  readonly url: string
  /** URL of the minimal server that writes and reads back. */
  readonly bareUrl: string
  readonly bootstrap: string
  readonly topic: string
  readonly times: number
  /** An id of the first subject that gets a new version. */
  readonly firstId: number
}
/** 99th percentiles, in ms. */
export type RegistrationResult = {
  readonly registerMs: number
  readonly produceMs: number
  readonly bareMs: number
}

const WARM_UP = 200

/**
 * Registers a new version, sends the same request to the minimal server, and produces a record of the same size, in turn
 * and one at a time, so that conditions are the same for all. The producers use fencing like that of the registry.
 */
const { url, bareUrl, bootstrap, topic, times, firstId } = JSON.parse(process.argv[2]!) as RegistrationTask
const registry = createRegistryClient({ url })
const bare = createRegistryClient({ url: bareUrl })
const address = { kind: 'kafka' as const, config: { 'bootstrap.servers': bootstrap } }
const broker = await openBroker(address, { logger: silentLogger() })
try {
  await broker.topics.create({ name: topic, partitions: 1, replicationFactor: 1 })
  const producer = await broker.producer({ identity: await broker.newProducerIdentity() })
  const registered: number[] = []
  const produced: number[] = []
  const bareTimes: number[] = []
  for (let time = 0; time < times + WARM_UP; time++) {
    const subject = subjectOf(firstId + time * VERSIONS)
    const schema = schemaText(subject, VERSIONS + 1)
    registered.push(await timed(() => registry.register(subject, { schema })))
    bareTimes.push(await timed(() => bare.register(subject, { schema })))
    const record = { topic, partition: 0, key: Buffer.from(subject), value: Buffer.from(schema) }
    produced.push(await timed(() => producer.send([record])))
  }
  await producer.close()
  const result = { registerMs: p99(registered), produceMs: p99(produced), bareMs: p99(bareTimes) }
  console.log(JSON.stringify(result satisfies RegistrationResult))
} finally {
  await broker.close()
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Without the first values, in which the processes compile their code. */
function p99(values: readonly number[]): number {
  const sorted = values.slice(WARM_UP).sort((left, right) => left - right)
  return sorted[Math.floor(sorted.length * 0.99)]!
}
