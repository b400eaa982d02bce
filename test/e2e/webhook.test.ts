import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { readAll } from '../contract/broker-support.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, real } from '../env/real.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const EVENTS = 400
const SENDERS = 8
const kafka = await real('kafka')

describeOn([kafka], 'WebhookSource in a worker', () => {
  it('has stored every record that it acknowledged, although its worker is killed', {
    timeout: 300_000,
  }, async () => {
    const address = { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } } as const
    const broker = await openBroker(address, { logger: silentLogger() })
    onTestFinished(() => broker.close())
    const topic = `webhook-${crypto.randomUUID()}`
    await broker.topics.create({ name: topic, partitions: 3, replicationFactor: 1 })
    const listener = `http://127.0.0.1:${await freePort()}`
    const options = { log: ['--bootstrap', kafka.address.bootstrap], groupId: topic } as const
    const killed = await startWorkerProcess(options)
    onTestFinished(() => killed.kill())
    await createWorkerClient(killed).create(topic, {
      'connector.class': 'WebhookSource',
      topic,
      listener,
      'auth.type': 'BEARER',
      'bearer.token': 'a-token',
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
    })
    const accepted: string[] = []
    const send = async (key: string) => {
      const headers = { authorization: 'Bearer a-token', 'idempotency-key': key }
      const answer = await fetch(listener, { method: 'POST', headers, body: `value of ${key}` }).catch(() => undefined)
      if (answer?.status === 204) accepted.push(key)
      return answer?.status === 204
    }
    const keys = Array.from({ length: EVENTS }, (_, index) => `event-${index}`)
    const sending = Promise.all(
      Array.from({ length: SENDERS }, async (_, sender) => {
        for (const key of keys.filter((_, index) => index % SENDERS === sender)) {
          await until(`yes to ${key}`, WAIT, () => send(key))
        }
      }),
    )
    await until('some of them', WAIT, () => accepted.length > EVENTS / 4)
    await killed.kill()
    const before = accepted.length
    const written = new Set((await readAll(broker, topic)).map(({ key }) => String(key)))
    expect(accepted.slice(0, before).filter((key) => !written.has(key))).toEqual([])
    const worker = await startWorkerProcess(options)
    onTestFinished(() => worker.kill())
    await sending
    const records = await readAll(broker, topic)
    expect(new Set(records.map(({ key }) => String(key)))).toEqual(new Set(keys))
    expect(records.every(({ key, value }) => String(value) === `value of ${key}`)).toBe(true)
  })
})
