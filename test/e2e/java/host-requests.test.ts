import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { HostConnection } from '../../../src/java/host-connection.ts'
import type { JavaHost } from '../../../src/java/java-host.ts'
import { writeSinkRecords } from '../../../src/java/record-codec.ts'
import { array, type Schema, type SinkRecord, STRING } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { connectToHost } from '../../support/java-host.ts'

const javaHost = await real('javaHost')

describeOn([javaHost], 'a Java host', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-requests-'))
  let host: JavaHost
  let connection: HostConnection

  beforeAll(async () => {
    ;({ host, connection } = await connectToHost(javaHost.address, directory))
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
