import { jsonWriter, plainJson } from '../../../java-compat/json/connect-json-writer.ts'
import { DataError, defineSink, field, RetriableError, type SinkRecord, type SinkTask, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import type { MqttConnection } from './mqtt-connection.ts'
import {
  logKeysWithoutEffect,
  MQTT_KEY_NOTES,
  MQTT_KNOWN_KEYS,
  mqttFields,
  openMqttConnection,
  qosField,
} from './mqtt-fields.ts'
import { type PublishOptions, TEXT_BYTES_MAX } from './packet-writer.ts'

/** Messages that are sent before the first one is acknowledged; brokers accept 20 by default. */
const IN_FLIGHT_MAX = 20

const config = z.object({
  ...mqttFields,
  'mqtt.qos': qosField('Quality of service of messages: 0, 1 or 2.').default(1),
  'mqtt.retained.enabled': field
    .boolean({ doc: 'Whether the broker keeps the last message of a topic for new subscribers.', importance: 'LOW' })
    .default(true),
})

/** Publishes records as messages of an MQTT broker. */
export const mqttSink = defineSink({
  class: 'MqttSink',
  aliases: ['io.confluent.connect.mqtt.MqttSinkConnector', 'MqttSinkConnector'],
  version: SHIPPED_VERSION,
  summary: "Publishes records to an MQTT broker, with the keys of Confluent's connector.",
  notes: `
**Each record is published at least once and in order, with QoS 1 and 2; with QoS 0, messages can be lost.** A record is published to the MQTT topic
with the name of its Kafka topic, which a transform such as \`RegexRouter\` changes. Bytes and strings are published unchanged, other values as JSON.
A record without a value is an empty message, with which a broker deletes a retained one. After an interruption, all records since the last
commit are published again in order. The protocol is MQTT 3.1.1. This is a complete configuration:

<!-- not run: test/e2e/mqtt.test.ts runs source and sink with mosquitto -->
\`\`\`properties
connector.class=MqttSink
topics=commands
mqtt.server.uri=tcp://localhost:1883
key.converter=org.apache.kafka.connect.storage.StringConverter
value.converter=org.apache.kafka.connect.converters.ByteArrayConverter
\`\`\`

| Keys and values of the original | |
| --- | --- |
${MQTT_KEY_NOTES}
`,
  config,
  otherKeys: { known: MQTT_KNOWN_KEYS, former: {} },
  start: ({ config: settings, raw, connector, task, signal, log, reject, files, network }): SinkTask => {
    logKeysWithoutEffect(raw, log)
    let connection: MqttConnection | undefined
    const toMessage = (record: SinkRecord): Omit<PublishOptions, 'id'> => {
      if (!isTopicName(record.topic))
        throw new DataError(`'${record.topic.slice(0, 100)}' is not a name of an MQTT topic`)
      const isRetained = settings['mqtt.retained.enabled']
      return { topic: record.topic, payload: payloadOf(record), qos: settings['mqtt.qos'], isRetained }
    }
    const connect = async () => {
      const opened = await openMqttConnection(settings, { connector, task, files, network, onMessage: () => {} })
      void opened.closed.then(() => {
        if (connection === opened) connection = undefined
      })
      if (signal.aborted) opened.close()
      return opened
    }
    return {
      async put(records) {
        const messages: Omit<PublishOptions, 'id'>[] = []
        for (const record of records) {
          try {
            messages.push(toMessage(record))
          } catch (error) {
            await reject(record, error as Error)
          }
        }
        if (messages.length === 0) return
        connection ??= await connect()
        try {
          await publishAll(connection, messages)
        } catch (error) {
          // The whole batch is published again, in order.
          connection?.close()
          connection = undefined
          throw new RetriableError((error as Error).message, { cause: error })
        }
      },
      stop: () => connection?.close(),
    }
  },
})

/** Resolves when the broker has all messages. They are sent in order, at most `IN_FLIGHT_MAX` before the first is acknowledged. */
async function publishAll(connection: MqttConnection, messages: readonly Omit<PublishOptions, 'id'>[]): Promise<void> {
  const inFlight: Promise<void>[] = []
  try {
    for (const message of messages) {
      if (inFlight.length >= IN_FLIGHT_MAX) await inFlight.shift()
      inFlight.push(connection.publish(message))
    }
    await Promise.all(inFlight)
  } catch (error) {
    await Promise.allSettled(inFlight)
    throw error
  }
}

/** Wildcards are for subscriptions only. */
function isTopicName(topic: string): boolean {
  return !/[+#\0]/.test(topic) && Buffer.byteLength(topic) <= TEXT_BYTES_MAX
}

function payloadOf({ value, valueSchema }: SinkRecord): Uint8Array {
  if (value === null || value === undefined) return new Uint8Array()
  if (value instanceof Uint8Array) return value
  if (typeof value === 'string') return Buffer.from(value)
  const json =
    valueSchema === null
      ? plainJson(value)
      : jsonWriter(valueSchema, { decimals: 'BASE64', nullsToDefaults: true })(value)
  return Buffer.from(json)
}
