import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { describeOn, real } from '../env/real.ts'
import { DatagenVerifier } from '../support/datagen-verifier.ts'
import { kafkaVersions } from '../support/kafka-versions.ts'
import { startRegistryProcess } from '../support/registry-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { WorkerGroup } from '../support/worker-group.ts'

const RECORDS = 2_000
const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const SETTINGS = {
  'session.timeout.ms': '6000',
  'heartbeat.interval.ms': '500',
  'scheduled.rebalance.max.delay.ms': '0',
  'offset.flush.interval.ms': '500',
  'exactly.once.source.support': 'enabled',
}

for (const { version, part } of kafkaVersions(['4.4.0', '3.3.2'])) {
  const kafka = await real(part)
  describeOn([kafka], `registry and worker with Kafka ${version}`, () => {
    it('register schemas, and copy records exactly once when the worker is killed', async () => {
      const { bootstrap } = kafka.address
      const log = ['--bootstrap', bootstrap]
      const names = `versions-${crypto.randomUUID()}`
      const registry = await startRegistryProcess(log, {
        'brokerstore.topic': `${names}-schemas`,
        'schema.registry.group.id': names,
      })
      onTestFinished(() => registry.kill())
      const group = new WorkerGroup(bootstrap, SETTINGS)
      const worker = await group.startOne()
      const topic = `${group.id}-records`
      const verifier = new DatagenVerifier(bootstrap, { topic, tasks: 1, iterations: RECORDS })
      const output = join(temporaryDirectory(), 'lines')
      const avro = {
        'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'value.converter': 'io.confluent.connect.avro.AvroConverter',
        'value.converter.schema.registry.url': registry.url,
      }
      const source = { 'connector.class': 'Datagen', 'exactly.once.support': 'required', rate: '500' }
      const client = createWorkerClient({ url: worker.url })
      await client.create('source', { ...verifier.config, ...source })
      await client.create('avro-source', {
        ...{ ...source, ...avro, 'kafka.topic': `${topic}-avro`, quickstart: 'orders', iterations: String(RECORDS) },
      })
      await client.create('avro-sink', {
        ...{ 'connector.class': 'FileStreamSink', ...avro, topics: `${topic}-avro`, file: output },
      })
      await until('the first lines', WAIT, () => linesOf(output).length > 0)
      await worker.kill()
      await group.startOne()
      expect(await verifier.untilComplete(WAIT.timeoutMs)).toBe(0)
      await until('all lines', WAIT, () => new Set(linesOf(output)).size === RECORDS)
      const subjects = await (await fetch(`${registry.url}/subjects`)).json()
      expect(subjects).toEqual([`${topic}-avro-value`])
    })
  })
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1)
  } catch {
    return []
  }
}
