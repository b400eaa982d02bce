import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { HostConnection } from '../../../src/java/host-connection.ts'
import { hostAddress, JavaHost } from '../../../src/java/java-host.ts'
import { writeSinkRecords } from '../../../src/java/record-codec.ts'
import { array, type Schema, type SinkRecord, STRING } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'

const javaHost = await real('javaHost')
const LOG = { linesPerSecond: 100, bytesPerSecond: 65_536 }

describeOn([javaHost], 'a Java host', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-requests-'))
  const address = hostAddress(directory, 'requests')
  let host: JavaHost
  let connection: HostConnection

  beforeAll(async () => {
    host = await JavaHost.start({
      runtime: { home: '', hostDirectory: javaHost.address.directory, heapMax: '256m', options: [], log: LOG },
      location: { path: javaHost.address.jars.file, jars: [javaHost.address.jars.file] },
      address,
      startMsMax: 60_000,
      onLog: () => undefined,
    })
    connection = await HostConnection.open(address, { timeoutMs: 10_000 })
  })

  afterAll(async () => {
    connection.close()
    await host.stop()
    rmSync(directory, { recursive: true })
  })

  it('ignores a commit that is reported when the task has been stopped', async () => {
    const file = join(directory, 'lines.txt')
    writeFileSync(file, '')
    await connection.call('source.start', {
      class: 'org.apache.kafka.connect.file.FileStreamSourceConnector',
      name: 'lines-0',
      config: { file, topic: 'lines' },
    })
    await connection.request('source.stop')
    connection.event('source.committed')
    expect(await connection.call('metrics', {})).toEqual([])
  })

  it('fails the put of a record that Java does not accept, and says why', async () => {
    await connection.call('sink.start', {
      class: 'org.apache.kafka.connect.file.FileStreamSinkConnector',
      name: 'lines-0',
      config: { file: join(directory, 'written.txt'), topics: 'lines' },
    })
    const valueSchema: Schema = { type: 'struct', fields: [{ name: 'names', schema: array(STRING) }] }
    const put = (names: readonly (string | null)[]) => {
      const position = { topic: 'lines', partition: 0, offset: 0 }
      const record: SinkRecord = {
        ...{ ...position, origin: position, key: null, keySchema: null, valueSchema, value: { names } },
        ...{ headers: [], timestampMs: null },
      }
      connection.event('sink.records', (body) => void writeSinkRecords(body, [record]))
      return connection.request('sink.put')
    }
    await expect(put([null])).rejects.toMatchObject({
      name: 'org.apache.kafka.connect.errors.DataException',
      message: expect.stringMatching(/names/),
    })
    await put(['one'])
    await connection.request('sink.stop')
    expect(readFileSync(join(directory, 'written.txt'), 'utf8')).toBe('Struct{names=[one]}\n')
  })
})
