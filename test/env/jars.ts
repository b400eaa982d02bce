import { existsSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { cacheDirectory } from './cache.ts'
import { run } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { takeTurns } from './take-turns.ts'

/**
 * The jars of one Java program. `kafka`: the broker and its command line tools, `connect`: Kafka Connect, `avro`:
 * Apache Avro's library, `plugins`: the plugins of Kafka Connect and Debezium, `java-host`: what Weir's Java host depends on.
 */
export type Bundle = 'kafka' | 'connect' | 'avro' | 'plugins' | 'java-host'

const GROUPS: Record<Bundle, string> = {
  kafka: 'org.apache.kafka',
  connect: 'org.apache.kafka',
  avro: 'org.apache.avro',
  plugins: 'org.apache.kafka',
  'java-host': 'org.apache.kafka',
}
const ARTIFACTS: Record<Bundle, readonly string[]> = {
  kafka: ['kafka_2.13', 'kafka-tools'],
  connect: ['connect-runtime', 'connect-file', 'connect-json', 'connect-transforms'],
  avro: ['avro'],
  plugins: ['connect-runtime', 'connect-json', 'connect-transforms'],
  'java-host': ['connect-api', 'connect-json', 'connect-transforms'],
}
export type Artifact = readonly [group: string, artifact: string, version: string]
const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1'
const GET = `${PLUGIN}:get`

const resolving = new Map<string, Promise<string>>()
const inTurn = takeTurns()

/** Undefined if Maven has not downloaded all jars. */
export function cachedClasspath(bundle: Bundle, version: string): string | undefined {
  return cachedJars(`${bundle}-${version}`)
}

/** The jars stay in Maven's local repository; only their paths are cached. Takes about 10 s the first time. */
export async function resolveClasspath(bundle: Bundle, version: string): Promise<string> {
  const artifacts = ARTIFACTS[bundle].map((artifact) => [GROUPS[bundle], artifact, version] as const)
  return resolveJars(`${bundle}-${version}`, [...artifacts, ...others(bundle, version)])
}

/** Like `cachedClasspath`, for jars that were resolved with `resolveJars`. */
export function cachedJars(name: string): string | undefined {
  const file = classpathFile(name)
  if (!existsSync(file)) return undefined
  const classpath = readFileSync(file, 'utf8')
  return classpath.split(delimiter).every((jar) => existsSync(jar)) ? classpath : undefined
}

/**
 * The class path of these artifacts with their runtime dependencies, in the versions that `managedBy` manages. Its name
 * identifies it in the cache.
 */
export async function resolveJars(name: string, artifacts: readonly Artifact[], managedBy?: Artifact): Promise<string> {
  const cached = cachedJars(name)
  if (cached !== undefined) return cached
  const resolved = resolving.get(name) ?? inTurn(() => fetchJars(name, artifacts, managedBy))
  resolving.set(name, resolved)
  return resolved
}

async function fetchJars(name: string, artifacts: readonly Artifact[], managedBy?: Artifact): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'weir-jars-'))
  try {
    writeFileSync(join(directory, 'pom.xml'), pom(artifacts, managedBy))
    const list = join(directory, 'classpath')
    const args = ['-q', '-B', `${PLUGIN}:build-classpath`, '-DincludeScope=runtime', `-Dmdep.outputFile=${list}`]
    const { code, stdout, stderr } = await run({ file: 'mvn', args, directory })
    if (code !== 0) throw new Error(`Maven could not bring the jars of ${name}:\n${stdout}${stderr}`)
    const classpath = readFileSync(list, 'utf8').trim()
    // Written to a temporary file and renamed, because another run may be reading it.
    const written = `${classpathFile(name)}.${process.pid}`
    writeFileSync(written, classpath)
    renameSync(written, classpathFile(name))
    return classpath
  } finally {
    removeDirectory(directory)
  }
}

/**
 * Downloads a file of Maven Central with its checksum into Maven's local repository, if there is such a file. `path` is
 * relative to the repository: `GROUP/ARTIFACT/VERSION/ARTIFACT-VERSION[-CLASSIFIER].EXTENSION`, or ends in `.sha1`.
 */
export async function fetchFile(path: string): Promise<void> {
  const artifact = artifactAt(path)
  const args = ['-q', '-B', GET, `-Dartifact=${artifact}`, '-Dtransitive=false']
  if (artifact !== undefined) await inTurn(() => run({ file: 'mvn', args, directory: tmpdir() }))
}

/** `GROUP:ARTIFACT:VERSION:EXTENSION[:CLASSIFIER]`, undefined for metadata. */
function artifactAt(path: string): string | undefined {
  const [file = '', version = '', artifact = '', ...group] = path.split('/').toReversed()
  const [, classifier, extension] = file.startsWith(`${artifact}-${version}`)
    ? (/^(?:-([^.]+))?\.(pom|jar)(?:\.sha1)?$/.exec(file.slice(artifact.length + version.length + 1)) ?? [])
    : []
  if (extension === undefined) return undefined
  const coordinates = [group.toReversed().join('.'), artifact, version, extension]
  return [...coordinates, ...(classifier === undefined ? [] : [classifier])].join(':')
}

function classpathFile(name: string): string {
  return join(cacheDirectory('jars'), `${name}.classpath`)
}

function pom(artifacts: readonly Artifact[], managedBy?: Artifact): string {
  const imported = managedBy === undefined ? '' : dependency(managedBy, '<type>pom</type><scope>import</scope>')
  const dependencies = artifacts.map((artifact) => dependency(artifact))
  return `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>weir.test</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
  <dependencyManagement><dependencies>
${imported}
  </dependencies></dependencyManagement>
  <dependencies>
${dependencies.join('\n')}
  </dependencies>
</project>
`
}

function dependency([group, artifact, version]: Artifact, more = ''): string {
  const coordinates = `<groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version>`
  return `    <dependency>${coordinates}${more}</dependency>`
}

/** Further artifacts of a bundle, and a binding for the logging facade slf4j, which requires one. */
function others(bundle: Bundle, version: string): readonly Artifact[] {
  const silent: Artifact = ['org.slf4j', 'slf4j-nop', '2.0.17']
  if (bundle === 'avro') return [silent]
  // The host has a binding of its own.
  if (bundle === 'java-host') return []
  if (bundle === 'plugins') return [['io.debezium', 'debezium-core', '3.4.0.Final'], silent]
  if (version.startsWith('3.')) return [['org.slf4j', 'slf4j-reload4j', '1.7.36']]
  return [
    ['org.apache.logging.log4j', 'log4j-core', '2.25.3'],
    ['org.apache.logging.log4j', 'log4j-slf4j-impl', '2.25.3'],
  ]
}
