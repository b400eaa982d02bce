import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ConnectorChains } from '../../../src/java/connector-chains.ts'
import { hostAddress, JavaHost } from '../../../src/java/java-host.ts'
import { javaSource } from '../../../src/java/java-source.ts'
import { runSource } from '../../../src/sdk/index.ts'
import { compileJava } from '../../env/javac.ts'
import { describeOn, real } from '../../env/real.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const javaHost = await real('javaHost')

const CLASS = 'dev.weir.test.LargeBatches'
const MEBIBYTE = 1024 * 1024

/** Starts a task that returns one batch of `count` records of this size. */
async function startSource(count: number, recordBytes: number) {
  const directory = temporaryDirectory()
  const location = join(directory, 'plugins')
  mkdirSync(location)
  const sources = ['LargeBatches', 'SingleTaskSource'].map((name) =>
    join(import.meta.dirname, `../../support/java/${name}.java`),
  )
  await compileJava(sources, { classpath: javaHost.address.classpath, directory: location })
  const address = hostAddress(directory, 'host')
  const host = await JavaHost.start({
    runtime: {
      home: '',
      hostDirectory: javaHost.address.directory,
      heapMax: '1g',
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
  const running = runSource(javaSource(module, description, new ConnectorChains()), {
    config: { count: String(count), 'record.bytes': String(recordBytes) },
  })
  onTestFinished(() => running.stop())
  return running
}

describeOn([javaHost], 'a batch of a Java source', () => {
  it('of more bytes than a frame can have arrives as a whole', async () => {
    const source = await startSource(10, 30 * MEBIBYTE)
    const batch = await source.nextBatch()
    expect(batch.map(({ sourceOffset, value }) => [sourceOffset['n'], (value as Uint8Array).length])).toEqual(
      Array.from({ length: 10 }, (_, at) => [at, 30 * MEBIBYTE]),
    )
  })

  it('with a record of more bytes than a frame can have fails with a sentence', async () => {
    const source = await startSource(1, 257 * MEBIBYTE)
    await expect(source.nextBatch()).rejects.toThrow(
      'a record for topic large is too large: at most 268435456 bytes can be sent from the JVM to the worker at once',
    )
  })
})
