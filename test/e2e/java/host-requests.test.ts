import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { HostConnection } from '../../../src/java/host-connection.ts'
import { hostAddress, JavaHost } from '../../../src/java/java-host.ts'
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
})
