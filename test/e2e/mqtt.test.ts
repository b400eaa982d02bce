import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { MqttConnection } from '../../src/plugins/connectors/mqtt/mqtt-connection.ts'
import { mqttSink } from '../../src/plugins/connectors/mqtt/mqtt-sink.ts'
import { mqttSource } from '../../src/plugins/connectors/mqtt/mqtt-source.ts'
import { runSink, runSource, type SourceRecord } from '../../src/sdk/index.ts'
import { must, withDebian } from '../env/debian.ts'
import { type MosquittoOptions, startMosquitto } from '../env/mosquitto.ts'
import { describeOn, real } from '../env/real.ts'
import { partDirectory } from '../env/workspace.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const WAIT = { everyMs: 100, timeoutMs: 120_000 }
const MESSAGES = 2_000
const PERSISTENT = { 'mqtt.clean.session.enabled': 'false' }

/** Certificates for 127.0.0.1, with their keys. */
const tlsFile = (name: string) => join(import.meta.dirname, '../support/tls', name)

const mosquitto = await real('mosquitto')

describeOn([mosquitto], 'the MQTT connectors with mosquitto', () => {
  it.each([0, 1, 2] as const)('receive what they publish with QoS %i, in order', async (qos) => {
    const uri = await start()
    const { source, sink } = await runBoth(uri, { 'mqtt.qos': String(qos) })
    const values = Array.from({ length: 100 }, (_, n) => Buffer.from(String(n)))
    await sink.put(values.map((value) => ({ topic: 'a', value })))
    const records: SourceRecord[] = []
    while (records.length < values.length) {
      const batch = await source.nextBatch()
      // The broker sends the next ones when the first ones are acknowledged.
      source.stored(batch)
      records.push(...batch)
    }
    expect(records.map(({ key, value }) => [key, String(value)])).toEqual(values.map((value) => ['a', String(value)]))
    expect(records[0]!.headers).toContainEqual(expect.objectContaining({ key: 'mqtt.qos', value: qos }))
  })

  it('receive again what was not stored, and not what was', async () => {
    const uri = await start()
    const { source, sink } = await runBoth(uri, { 'mqtt.qos': '1', ...PERSISTENT })
    await sink.put(['stored', 'lost', 'lost too'].map((value) => ({ topic: 'a', value })))
    const records = await source.take(3)
    source.stored([records[0]!])
    await source.stop()
    // The connection closes only when all is stored, or after a time: a new client ends it.
    const next = runSource(mqttSource, { config: sourceConfig(uri, { 'mqtt.qos': '1', ...PERSISTENT }) })
    onTestFinished(() => next.stop())
    const again = await next.take(2)
    expect(again.map(({ value }) => String(value))).toEqual(['lost', 'lost too'])
    expect(again[0]!.headers).toContainEqual(expect.objectContaining({ key: 'mqtt.duplicate', value: true }))
  })

  it('connect with TLS, a client certificate and a password, and report wrong ones', async () => {
    const directory = partDirectory('mosquitto-tls')
    const passwords = join(directory, 'passwords')
    writeFileSync(passwords, '')
    const { debian } = mosquitto.address
    await must(withDebian(debian, { file: 'mosquitto_passwd', args: ['-b', passwords, 'weir', 'secret'], directory }))
    const uri = await start({
      settings: [
        `cafile ${tlsFile('ca.pem')}`,
        `certfile ${tlsFile('server.pem')}`,
        `keyfile ${tlsFile('server.pem')}`,
        'require_certificate true',
        `password_file ${passwords}`,
      ],
    })
    const tls = {
      'mqtt.server.uri': uri.replace('tcp:', 'ssl:'),
      'mqtt.ssl.trust.store.path': tlsFile('ca.pem'),
      'mqtt.ssl.key.store.path': tlsFile('client.pem'),
      'mqtt.username': 'weir',
    }
    const { source, sink } = await runBoth(uri, { ...tls, 'mqtt.password': 'secret' })
    await sink.put([{ topic: 'a', value: 'hidden' }])
    expect(String((await source.take(1))[0]!.value)).toBe('hidden')
    const wrong = runSource(mqttSource, { config: sourceConfig(uri, { ...tls, 'mqtt.password': 'wrong' }) })
    await expect(wrong.nextBatch()).rejects.toThrow('check mqtt.username')
  })

  it('lose no message although the worker is killed', { timeout: 300_000 }, async () => {
    const uri = await start()
    const data = partDirectory('data')
    const startWorker = () =>
      startWorkerProcess({ log: ['--data', data], groupId: 'mqtt', settings: { 'offset.flush.interval.ms': '300' } })
    let worker = await startWorker()
    onTestFinished(() => worker.kill())
    const client = createWorkerClient({ url: worker.url, timeoutMs: 60_000 })
    const base = {
      'mqtt.server.uri': uri,
      'mqtt.qos': '1',
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'org.apache.kafka.connect.converters.ByteArrayConverter',
    }
    await client.create('readings-source', {
      ...base,
      ...PERSISTENT,
      'connector.class': 'io.confluent.connect.mqtt.MqttSourceConnector',
      'mqtt.topics': 'sensors/+',
      'kafka.topic': 'readings',
    })
    await client.create('readings-sink', {
      ...base,
      'connector.class': 'io.confluent.connect.mqtt.MqttSinkConnector',
      topics: 'readings',
    })
    const arrived = new Set<number>()
    const subscriber = await open(uri, (payload) => void arrived.add(Number(payload)))
    await subscriber.subscribe(['readings'], 1)
    const publisher = await open(uri)
    const publish = (payload: string) =>
      publisher.publish({ topic: 'sensors/1', payload: Buffer.from(payload), qos: 1, isRetained: false })
    // Nothing is kept for the connector before its first subscription.
    await until('the subscription', WAIT, async () => {
      await publish('-1')
      return arrived.has(-1)
    })
    for (let number = 0; number < MESSAGES; number++) {
      await publish(String(number))
      if (number === MESSAGES / 2) {
        await worker.kill()
        worker = await startWorker()
      }
    }
    await until('all messages', WAIT, () => arrived.size === MESSAGES + 1)
    await worker.stop()
  })
})

async function start(options?: MosquittoOptions): Promise<string> {
  const broker = await startMosquitto(mosquitto.address, options)
  onTestFinished(() => broker.stop())
  return `tcp://127.0.0.1:${broker.port}`
}

function sourceConfig(uri: string, config: Readonly<Record<string, string>>) {
  return { 'mqtt.server.uri': uri, 'mqtt.topics': 'a', 'mqtt.connect.timeout.seconds': '120', ...config }
}

/** A source that has subscribed, and a sink. */
async function runBoth(uri: string, config: Readonly<Record<string, string>>) {
  const source = runSource(mqttSource, { config: sourceConfig(uri, config) })
  onTestFinished(() => source.stop())
  await source.nextBatch()
  const sink = await runSink(mqttSink, { connector: 'sink', config: { 'mqtt.server.uri': uri, ...config } })
  onTestFinished(() => sink.stop())
  return { source, sink }
}

/** A client of the test. */
async function open(uri: string, receive: (payload: string) => void = () => {}): Promise<MqttConnection> {
  const { hostname: host, port } = new URL(uri)
  const connection = await MqttConnection.open(connect({ host, port: Number(port) }), {
    clientId: crypto.randomUUID(),
    isClean: true,
    keepAliveSeconds: 600,
    user: undefined,
    password: undefined,
    connectTimeoutMs: 120_000,
    onMessage(message, receiving) {
      receive(message.payload.toString())
      receiving.acknowledge(message)
    },
  })
  onTestFinished(() => connection.close())
  return connection
}
