import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { resolveClasspath } from '../../env/jars.ts'
import { KAFKA_VERSIONS } from '../../env/kafka.ts'
import { run } from '../../env/process.ts'
import { partDirectory } from '../../env/workspace.ts'

const CLASS = 'dev.weir.bench.TickSource'
const SOURCES = [
  join(import.meta.dirname, 'TickSource.java'),
  join(import.meta.dirname, '../../support/java/SingleTaskSource.java'),
]

/** The plugin paths with the source of ticks: for Weir's worker and for Java's. */
export async function prepareTickPlugins(): Promise<{ readonly ours: string; readonly java: string }> {
  const java = partDirectory('tick-plugins')
  const location = join(java, 'ticks')
  const services = join(location, 'META-INF/services')
  mkdirSync(services, { recursive: true })
  writeFileSync(join(services, 'org.apache.kafka.connect.source.SourceConnector'), `${CLASS}\n`)
  const classpath = await resolveClasspath('connect', KAFKA_VERSIONS[0])
  const args = ['-cp', classpath, '-d', location, ...SOURCES]
  const { code, stderr } = await run({ file: 'javac', args, directory: '.' })
  if (code !== 0) throw new Error(`TickSource.java does not compile: ${stderr}`)
  return { ours: join(import.meta.dirname, 'tick-source.mjs'), java }
}
