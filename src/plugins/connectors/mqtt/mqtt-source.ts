import {
  BOOLEAN,
  BYTES,
  defineSource,
  field,
  RetriableError,
  type Schema,
  type SourceRecord,
  STRING,
  z,
} from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { MessageBuffer } from './message-buffer.ts'
import {
  logKeysWithoutEffect,
  MQTT_KEY_NOTES,
  MQTT_KNOWN_KEYS,
  mqttFields,
  openMqttConnection,
  qosField,
} from './mqtt-fields.ts'
import type { MqttMessage } from './packet-reader.ts'

const INT32: Schema = { type: 'int32' }
/** Maximum wait for a batch before an empty one is yielded. */
const IDLE_MS = 500
/** Maximum wait for the last batch to be stored. */
const DRAIN_MS = 5_000
/** Limits of received messages whose records were not requested yet. */
const BUFFERED = { messages: 1_000, bytes: 16 * 1024 * 1024 }

const config = z.object({
  ...mqttFields,
  'mqtt.topics': field
    .list({
      doc: 'Topics to subscribe to, separated by commas. May contain the wildcards + and #, and $share/GROUP/TOPIC for a shared subscription.',
      importance: 'HIGH',
    })
    .refine((topics) => topics.length > 0, { error: 'expected a topic' }),
  'kafka.topic': field
    .text({ reaches: 'written topic', doc: 'Topic to write to.', importance: 'HIGH', nonEmpty: true })
    .default('mqtt'),
  'mqtt.qos': qosField('Quality of service of the subscriptions: 0, 1 or 2.').default(0),
})

type Config = z.infer<typeof config>

/** Reads messages of an MQTT broker and acknowledges them when Kafka has their records. */
export const mqttSource = defineSource({
  class: 'MqttSource',
  aliases: ['io.confluent.connect.mqtt.MqttSourceConnector', 'MqttSourceConnector'],
  version: SHIPPED_VERSION,
  summary: "Reads messages of an MQTT broker, with the keys and records of Confluent's connector.",
  notes: `
**A message of QoS 1 or 2 is acknowledged when its record is stored in Kafka. With \`mqtt.clean.session.enabled=false\`, the broker keeps messages
while the connector does not run, so that none is lost; after a crash, the last ones can be stored twice.** Messages of QoS 0 are lost while
there is no connection, and a broker sends retained messages again with each connection. Subscriptions have \`mqtt.qos\`; a message has the lower QoS of its sender and its subscription.

The value of a record is the payload as bytes, the key the topic of the message. Headers contain the id of the message, its QoS, and whether it was
retained or sent again: \`mqtt.message.id\`, \`mqtt.qos\`, \`mqtt.retained\`, \`mqtt.duplicate\`. The offset counts messages, and has no other meaning.
The topics are distributed to at most \`tasks.max\` tasks, each with a client id of its own. While
the broker keeps sessions, do not change \`tasks.max\`, \`mqtt.topics\` or \`mqtt.client.id\`: they decide in which session a topic is. With
\`$share/GROUP/TOPIC\`, the broker distributes messages among all clients of the group. The protocol is MQTT 3.1.1. This is a complete configuration:

<!-- not run: test/e2e/mqtt.test.ts runs source and sink with mosquitto -->
\`\`\`properties
connector.class=MqttSource
mqtt.server.uri=tcp://localhost:1883
mqtt.topics=sensors/+/temperature
mqtt.qos=1
mqtt.clean.session.enabled=false
kafka.topic=temperatures
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.converters.ByteArrayConverter
\`\`\`

| Keys and values of the original | |
| --- | --- |
| \`records.buffer.queue.*\` | without effect: at most 1,000 messages or 16 MB are buffered, then no more are received |
${MQTT_KEY_NOTES}
`,
  config,
  otherKeys: { known: MQTT_KNOWN_KEYS, former: {} },
  tasks(settings, tasksMax, raw) {
    const topics = settings['mqtt.topics']
    const count = Math.min(tasksMax, topics.length)
    return Array.from({ length: count }, (_, task) => ({
      ...raw,
      'mqtt.topics': topics.filter((_topic, at) => at % count === task).join(','),
    }))
  },
  async *poll({ config: settings, raw, connector, task, signal, resumeFrom, onStored, log, files, network }) {
    logKeysWithoutEffect(raw, log)
    const buffer = new MessageBuffer(BUFFERED)
    const pending = new Map<SourceRecord, MqttMessage>()
    const connection = await openMqttConnection(settings, {
      connector,
      task,
      files,
      network,
      onMessage: (message, receiving) => {
        buffer.add(message)
        if (buffer.isFull) receiving.pause()
      },
    })
    let isStopping = false
    onStored((records) => {
      for (const record of records) {
        const message = pending.get(record)
        pending.delete(record)
        if (message !== undefined) connection.acknowledge(message)
      }
      if (isStopping && pending.size === 0) connection.close()
    })
    const wake = () => buffer.wake()
    signal.addEventListener('abort', wake, { once: true })
    let ended: Error | undefined
    void connection.closed.then((reason) => {
      ended = reason
      wake()
    })
    try {
      await connection.subscribe(settings['mqtt.topics'], settings['mqtt.qos'])
      const toRecord = recordMaker(settings, resumeFrom)
      yield []
      while (!signal.aborted) {
        const messages = await buffer.take(IDLE_MS)
        connection.resume()
        yield messages.map((message) => {
          const record = toRecord(message)
          if (message.qos > 0) pending.set(record, message)
          return record
        })
        if (ended !== undefined) throw new RetriableError(ended.message, { cause: ended })
      }
    } finally {
      signal.removeEventListener('abort', wake)
      isStopping = true
      connection.pause()
      // The last batch may be stored after the end: without its acknowledgement the broker would send it again.
      if (pending.size === 0 || ended !== undefined) connection.close()
      else setTimeout(() => connection.close(), DRAIN_MS)
    }
  },
})

function recordMaker(
  settings: Config,
  resumeFrom: (partition: { readonly topics: string }) => Readonly<Record<string, unknown>> | undefined,
): (message: MqttMessage) => SourceRecord {
  const sourcePartition = { topics: settings['mqtt.topics'].join(',') }
  let count = Number(resumeFrom(sourcePartition)?.['messages'] ?? 0)
  return ({ topic, payload, qos, id, isRetained, isDuplicate }) => {
    count += 1
    return {
      topic: settings['kafka.topic'],
      key: topic,
      keySchema: STRING,
      value: payload,
      valueSchema: BYTES,
      headers: [
        { key: 'mqtt.message.id', value: id, schema: INT32 },
        { key: 'mqtt.qos', value: qos, schema: INT32 },
        { key: 'mqtt.retained', value: isRetained, schema: BOOLEAN },
        { key: 'mqtt.duplicate', value: isDuplicate, schema: BOOLEAN },
      ],
      sourcePartition,
      sourceOffset: { messages: count },
    }
  }
}
