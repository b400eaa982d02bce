import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ConnectorChains } from '../../../src/java/connector-chains.ts'
import { hostAddress, JavaHost } from '../../../src/java/java-host.ts'
import { javaSource } from '../../../src/java/java-source.ts'
import { INT32, runSource } from '../../../src/sdk/index.ts'
import { compileJava } from '../../env/javac.ts'
import { describeOn, real } from '../../env/real.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const javaHost = await real('javaHost')

const CLASS = 'dev.weir.test.StructDefault'

async function startSource() {
  const directory = temporaryDirectory()
  const location = join(directory, 'plugins')
  mkdirSync(location)
  const sources = ['StructDefault', 'SingleTaskSource'].map((name) =>
    join(import.meta.dirname, `../../support/java/${name}.java`),
  )
  await compileJava(sources, { classpath: javaHost.address.classpath, directory: location })
  const address = hostAddress(directory, 'host')
  const host = await JavaHost.start({
    runtime: {
      home: '',
      hostDirectory: javaHost.address.directory,
      heapMax: '128m',
      options: [],
      log: { linesPerSecond: 100, bytesPerSecond: 65_536 },
    },
    location: { path: location, jars: [] },
    address,
    startMsMax: 60_000,
    onLog: () => undefined,
  })
  onTestFinished(() => host.stop())
  const description = { kind: 'source', class: CLASS, version: '1', definitions: [] } as const
  const module = { location, address, plugins: [description] }
  const running = runSource(javaSource(module, description, new ConnectorChains()), { config: {} })
  onTestFinished(() => running.stop())
  return running
}

describeOn([javaHost], 'a record of a Java source', () => {
  it('keeps the struct that is the default of a field', async () => {
    const source = await startSource()
    const [record] = await source.nextBatch()
    expect(record!.value).toEqual({ at: { x: 2 } })
    const point = { type: 'struct', name: 'Point', default: { x: 1 }, fields: [{ name: 'x', schema: INT32 }] }
    expect(record!.valueSchema).toEqual({ type: 'struct', fields: [{ name: 'at', schema: point }] })
  })
})
