import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { mqttSink } from '../../../../src/plugins/connectors/mqtt/mqtt-sink.ts'
import { mqttSource } from '../../../../src/plugins/connectors/mqtt/mqtt-source.ts'
import { publishPacket } from '../../../../src/plugins/connectors/mqtt/packet-writer.ts'
import { runSink, runSource, validateConfig } from '../../../../src/sdk/index.ts'
import { type BrokerScript, CONNACK, startScriptedBroker } from '../../../support/mqtt-broker.ts'

const [PUBLISH, PUBACK, PUBREC, PUBREL] = [3, 4, 5, 6]
const WAIT_MS = { timeout: 20_000, interval: 5 }

/** Accepts clients, subscriptions and messages. */
const accept: BrokerScript = ({ type, flags, body }) => {
  if (type === 1) return CONNACK
  if (type === 8) return Buffer.from([0x90, 3, body[0]!, body[1]!, 0])
  if (type === PUBREL) return Buffer.from([0x70, 2, body[0]!, body[1]!])
  if (type !== PUBLISH || flags < 2) return undefined
  const at = 2 + body.readUInt16BE(0)
  return Buffer.from([(flags & 6) === 2 ? 0x40 : 0x50, 2, body[at]!, body[at + 1]!])
}

describe('MqttSource', () => {
  it.each([
    [1, PUBACK],
    [2, PUBREC],
  ] as const)('acknowledges messages of QoS %i only when their records are stored', async (qos, acknowledgement) => {
    const broker = await startScriptedBroker(accept)
    const { run } = source(broker.uri, { 'mqtt.qos': String(qos) })
    await run.nextBatch()
    const messages = [7, 8].map((id) =>
      publishPacket({ topic: 'a', payload: Buffer.from(`${id}`), qos, id, isRetained: false }),
    )
    broker.send(Buffer.concat(messages))
    const records = await run.take(2)
    expect(records.map(({ key, value }) => [key, String(value)])).toEqual([
      ['a', '7'],
      ['a', '8'],
    ])
    expect(broker.packets.map(({ type }) => type)).not.toContain(acknowledgement)
    run.stored([records[1]!])
    const ids = () =>
      broker.packets.filter(({ type }) => type === acknowledgement).map(({ body }) => body.readUInt16BE(0))
    await vi.waitFor(() => expect(ids()).toEqual([8]), WAIT_MS)
    run.stored([records[0]!])
    await vi.waitFor(() => expect(ids()).toEqual([8, 7]), WAIT_MS)
  })

  it('acknowledges the last batch when it is stored after the source was stopped', async () => {
    const broker = await startScriptedBroker(accept)
    const { run } = source(broker.uri, { 'mqtt.qos': '1' })
    await run.nextBatch()
    broker.send(publishPacket({ topic: 'a', payload: Buffer.from('x'), qos: 1, id: 5, isRetained: false }))
    const records = await run.take(1)
    await run.stop()
    run.stored(records)
    await vi.waitFor(() => expect(broker.packets.map(({ type }) => type)).toEqual([1, 8, PUBACK, 14]), WAIT_MS)
  })

  it('receives messages of its session that follow the response to CONNECT at once', async () => {
    const message = publishPacket({ topic: 'a', payload: Buffer.from('kept'), qos: 1, id: 5, isRetained: true })
    const broker = await startScriptedBroker((packet, connection) =>
      packet.type === 1 ? Buffer.concat([Buffer.from([0x20, 2, 1, 0]), message]) : accept(packet, connection),
    )
    const { run } = source(broker.uri, { 'mqtt.qos': '1', 'mqtt.clean.session.enabled': 'false' })
    const [record] = await run.take(1)
    expect(String(record!.value)).toBe('kept')
    expect(record!.headers!.map(({ key, value }) => [key, value])).toEqual([
      ['mqtt.message.id', 5],
      ['mqtt.qos', 1],
      ['mqtt.retained', true],
      ['mqtt.duplicate', false],
    ])
    // Clean session is off, and the client id is that of the connector and the task.
    expect(broker.packets[0]!.body[7]! & 2).toBe(0)
    expect(broker.packets[0]!.body.toString()).toContain('test-0')
  })

  it('receives no more while its records are not requested', async () => {
    const broker = await startScriptedBroker(accept)
    const { run } = source(broker.uri)
    await run.nextBatch()
    const payload = Buffer.alloc(1024 * 1024)
    for (let sent = 0; sent < 40; sent++)
      broker.send(publishPacket({ topic: 'a', payload, qos: 0, id: 0, isRetained: false }))
    await run.nextBatch()
    const first = await run.nextBatch()
    expect(first.length).toBeLessThan(40)
    const rest = await run.take(39 - first.length)
    expect(rest.length).toBeGreaterThan(0)
  })

  it('fails with the reason when the broker refuses the client or a subscription, and retries otherwise', async () => {
    const refusing = await startScriptedBroker(() => Buffer.from([0x20, 2, 0, 5]))
    await expect(source(refusing.uri).run.nextBatch()).rejects.toThrow(
      'the client is not authorized: check mqtt.username',
    )
    const unsubscribing = await startScriptedBroker(({ type, body }) =>
      type === 1 ? CONNACK : Buffer.from([0x90, 3, body[0]!, body[1]!, 0x80]),
    )
    await expect(source(unsubscribing.uri).run.nextBatch()).rejects.toThrow('check mqtt.topics')
    const closing = await startScriptedBroker(() => 'close')
    await expect(source(closing.uri).run.nextBatch()).rejects.toMatchObject({ code: 'retriable' })
    const unavailable = await startScriptedBroker(() => Buffer.from([0x20, 2, 0, 3]))
    await expect(source(unavailable.uri).run.nextBatch()).rejects.toMatchObject({ code: 'retriable' })
  })

  it('tries the next broker, and connects again after the end of a connection', async () => {
    const closing = await startScriptedBroker(() => 'close')
    const broker = await startScriptedBroker(accept)
    const { run } = source(`${closing.uri},${broker.uri}`)
    expect(await run.nextBatch()).toEqual([])
    broker.send(Buffer.from('82020001', 'hex'))
    await expect(
      (async () => {
        for (;;) await run.nextBatch()
      })(),
    ).rejects.toMatchObject({ code: 'retriable', message: 'a packet of type 8 is not one of a broker' })
  })

  it('distributes topics to tasks', async () => {
    const config = { 'mqtt.server.uri': 'tcp://h', 'mqtt.topics': 'a,b,c' }
    const parsed = mqttSource.config.parse(config)
    const tasks = await mqttSource.tasks!(parsed, 2, config, undefined as never)
    expect(tasks.map((task) => task['mqtt.topics'])).toEqual(['a,c', 'b'])
  })
})

describe('MqttSink', () => {
  it.each([0, 1, 2])('publishes records in order with QoS %i', async (qos) => {
    const broker = await startScriptedBroker(accept)
    const run = await sink(broker.uri, { 'mqtt.qos': String(qos), 'mqtt.retained.enabled': 'false' })
    const values = Array.from({ length: 50 }, (_, n) => ({ topic: 't', value: Buffer.from(String(n)) }))
    await run.put([
      ...values,
      { topic: 't', value: 'text' },
      { topic: 't', value: { a: 1 } },
      { topic: 't', value: null },
    ])
    const published = () => broker.packets.filter(({ type }) => type === PUBLISH)
    await vi.waitFor(() => expect(published()).toHaveLength(53), WAIT_MS)
    const payloads = published().map(({ body }) => body.toString('utf8', qos === 0 ? 3 : 5))
    expect(payloads).toEqual([...values.map(({ value }) => String(value)), 'text', '{"a":1}', ''])
    expect(new Set(published().map(({ flags }) => flags))).toEqual(new Set([qos << 1]))
  })

  it('publishes the whole batch again in order when the connection ends before all messages are acknowledged', async () => {
    let published = 0
    const broker = await startScriptedBroker((packet, connection) => {
      if (packet.type === PUBLISH && connection === 1 && ++published === 2) return 'close'
      return accept(packet, connection)
    })
    const run = await sink(broker.uri)
    const records = ['a', 'b', 'c'].map((value) => ({ topic: 't', value }))
    await expect(run.put(records)).rejects.toMatchObject({ code: 'retriable' })
    await run.put(records)
    expect(broker.connections()).toBe(2)
    const bodies = broker.packets.filter(({ type }) => type === PUBLISH).map(({ body }) => body.toString('utf8', 5))
    expect(bodies.slice(-3)).toEqual(['a', 'b', 'c'])
  })

  it('rejects records whose topic cannot be one of MQTT', async () => {
    const broker = await startScriptedBroker(accept)
    const run = await sink(broker.uri)
    await run.put([
      { topic: 'a/#', value: 'x' },
      { topic: 'long/'.repeat(20_000), value: 'x' },
    ])
    expect(run.rejected.map(({ error }) => error.message)).toEqual([
      "'a/#' is not a name of an MQTT topic",
      expect.stringMatching(/^'long.* is not a name of an MQTT topic$/),
    ])
  })
})

describe('the configuration of the MQTT connectors', () => {
  it.each([
    [{ 'mqtt.server.uri': 'ws://h:1' }, 'expected tcp://host:port or ssl://host:port'],
    [{ 'mqtt.qos': '3' }, 'Value must be no more than 2'],
    [{ 'mqtt.topics': '' }, 'expected a topic'],
  ])('rejects %o', (config, message) => {
    const problems = validateConfig(mqttSource.config, {
      'mqtt.server.uri': 'tcp://h:1883',
      'mqtt.topics': 't',
      ...config,
    })
    expect(problems.flatMap(({ errors }) => errors)).toContainEqual(expect.stringContaining(message))
  })

  it('accepts those of the originals', () => {
    const config = { 'mqtt.server.uri': 'tcp://mosquitto:1883', 'mqtt.topics': 'spBv1.0/#', 'mqtt.qos': '2' }
    expect(validateConfig(mqttSource.config, config).flatMap(({ errors }) => errors)).toEqual([])
  })
})

function source(uri: string, config: Readonly<Record<string, string>> = {}) {
  const run = runSource(mqttSource, { config: { 'mqtt.server.uri': uri, 'mqtt.topics': 'a,b', ...config } })
  onTestFinished(() => run.stop())
  return { run }
}

async function sink(uri: string, config: Readonly<Record<string, string>> = {}) {
  const run = await runSink(mqttSink, { config: { 'mqtt.server.uri': uri, ...config } })
  onTestFinished(() => run.stop())
  return run
}
