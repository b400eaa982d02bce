import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { readAll } from '../contract/broker-support.ts'
import { describeOn, real } from '../env/real.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const FILES = 12
const ROWS = 5_000
const kafka = await real('kafka')

describeOn([kafka], 'DirectorySource in a worker', () => {
  it('has stored all rows of every file that it renamed, in order within a file, although its worker is killed', {
    timeout: 300_000,
  }, async () => {
    const address = { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } } as const
    const broker = await openBroker(address, { logger: silentLogger() })
    onTestFinished(() => broker.close())
    const topic = `directory-${crypto.randomUUID()}`
    await broker.topics.create({ name: topic, partitions: 1, replicationFactor: 1 })
    const directory = temporaryDirectory()
    for (let file = 0; file < FILES; file++) {
      const rows = Array.from({ length: ROWS }, (_, row) => `${file},"row\n${row}"\n`).join('')
      const text = `file,row\n${rows}`
      writeFileSync(
        join(directory, file % 2 === 0 ? `${file}.csv` : `${file}.csv.gz`),
        file % 2 === 0 ? text : gzipSync(text),
      )
    }
    const options = {
      log: ['--bootstrap', kafka.address.bootstrap],
      groupId: topic,
      settings: { 'offset.flush.interval.ms': '200' },
    } as const
    const killed = await startWorkerProcess(options)
    onTestFinished(() => killed.kill())
    await createWorkerClient(killed).create(topic, {
      'connector.class': 'DirectorySource',
      topic,
      'input.path': directory,
      'file.minimum.age.ms': '0',
      'batch.size': '100',
      'key.field': 'file',
      'csv.types': 'file:int32',
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
    })
    const isDone = () => readdirSync(directory).filter((name) => name.endsWith('.done')).length
    await until('some files', WAIT, () => isDone() >= 3)
    await killed.kill()
    const worker = await startWorkerProcess(options)
    onTestFinished(() => worker.kill())
    await until('all files', WAIT, () => isDone() === FILES)

    const records = await readAll(broker, topic)
    const rowsOf = Map.groupBy(records, ({ key }) => String(key))
    expect(rowsOf.size).toBe(FILES)
    const expected = Array.from({ length: ROWS }, (_, row) => row)
    for (const rows of rowsOf.values()) {
      const numbers = rows.map(({ value }) => Number((JSON.parse(String(value)) as { row: string }).row.slice(4)))
      expect([...new Set(numbers)]).toEqual(expected)
    }
  })
})
