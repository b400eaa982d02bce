import type { Broker } from '../../../src/broker/broker.ts'
import { guidOf } from '../../../src/registry/model/schema.ts'
import { type Subject, toSubject } from '../../../src/registry/model/subject.ts'
import { RecordCodec } from '../../../src/registry/store/record-codec.ts'

export const VERSIONS = 4
const FIELDS = 8
const BATCH = 5_000

/** The subject of the schema with this id. */
export function subjectOf(id: number): Subject {
  return toSubject(`team-${Math.floor((id - 1) / VERSIONS)}.orders-value`)
}

/** An Avro record of about 600 bytes. Each version of a subject adds a field with a default. */
export function schemaText(subject: Subject, version: number): string {
  const fields = Array.from({ length: FIELDS }, (_, at) => ({
    name: `orderField${at}`,
    type: at % 2 ? 'string' : 'long',
  }))
  const added = Array.from({ length: version }, (_, at) => ({
    name: `added${at}`,
    type: ['null', 'int'],
    default: null,
  }))
  const name = `Orders_${subject.replace(/\W/g, '_')}`
  return JSON.stringify({ type: 'record', name, namespace: 'com.example.team', fields: [...fields, ...added] })
}

/** Creates a topic with `count` schemas as a registry writes it: ids from 1, four versions per subject. */
export async function fillTopic(broker: Broker, topic: string, count: number): Promise<void> {
  const configs = { 'cleanup.policy': 'compact' }
  await broker.topics.create({ name: topic, partitions: 1, replicationFactor: 1, configs })
  const codec = new RecordCodec()
  const producer = await broker.producer()
  for (let first = 1; first <= count; first += BATCH) {
    const ids = Array.from({ length: Math.min(BATCH, count - first + 1) }, (_, at) => first + at)
    await producer.send(ids.map((id) => ({ topic, ...codec.encode(recordOf(id)) })))
  }
  await producer.close()
}

function recordOf(id: number) {
  const subject = subjectOf(id)
  const version = ((id - 1) % VERSIONS) + 1
  const text = schemaText(subject, version)
  const bare = { type: 'AVRO', text, references: [], metadata: undefined, ruleSet: undefined } as const
  const content = { ...bare, guid: guidOf(bare) }
  return {
    kind: 'schema' as const,
    subject,
    version,
    value: { subject, version, id, content, deleted: false, extra: {} },
  }
}
