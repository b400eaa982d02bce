import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ConnectorChains } from '../../src/java/connector-chains.ts'
import { type HostAddress, HostConnection } from '../../src/java/host-connection.ts'
import { hostAddress, JavaHost } from '../../src/java/java-host.ts'
import { javaSource } from '../../src/java/java-source.ts'
import { runSource } from '../../src/sdk/index.ts'
import type { JavaHostAddress } from '../env/java-host.ts'
import { compileJava } from '../env/javac.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const LOG = { linesPerSecond: 100, bytesPerSecond: 65_536 }

type HostOptions = {
  readonly address: HostAddress
  readonly location: { readonly path: string; readonly jars: readonly string[] }
  readonly heapMax?: string
}

/** Starts the JVM of a plugin location. The caller stops it. */
function startHost(built: JavaHostAddress, { address, location, heapMax = '256m' }: HostOptions): Promise<JavaHost> {
  return JavaHost.start({
    runtime: { home: '', hostDirectory: built.directory, heapMax, options: [], log: LOG },
    location,
    address,
    startMsMax: 60_000,
    onLog: () => undefined,
  })
}

/** Starts a JVM with the file connectors of Kafka, and connects to it. The caller closes the connection and stops the JVM. */
export async function connectToHost(built: JavaHostAddress, directory: string) {
  const address = hostAddress(directory, 'host')
  const { file } = built.jars
  const host = await startHost(built, { address, location: { path: file, jars: [file] } })
  return { host, connection: await HostConnection.open(address, { timeoutMs: 10_000 }) }
}

/**
 * Compiles a connector of `test/support/java` that extends `SingleTaskSource`, and runs it as a source. It is stopped at the end
 * of the test.
 */
export async function startCompiledSource(
  built: JavaHostAddress,
  name: string,
  {
    heapMax = '128m',
    config = {},
  }: { readonly heapMax?: string; readonly config?: Readonly<Record<string, string>> } = {},
) {
  const directory = temporaryDirectory()
  const path = join(directory, 'plugins')
  mkdirSync(path)
  const sources = [name, 'SingleTaskSource'].map((file) => join(import.meta.dirname, `java/${file}.java`))
  await compileJava(sources, { classpath: built.classpath, directory: path })
  const address = hostAddress(directory, 'host')
  const host = await startHost(built, { address, location: { path, jars: [] }, heapMax })
  onTestFinished(() => host.stop())
  const description = { kind: 'source', class: `dev.weir.test.${name}`, version: '1', definitions: [] } as const
  const module = { location: path, address, plugins: [description] }
  const running = runSource(javaSource(module, description, new ConnectorChains()), { config })
  onTestFinished(() => running.stop())
  return running
}
