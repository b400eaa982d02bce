import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Artifact, cachedJars, resolveJars } from './jars.ts'
import { hasMaven, JAVA_MIN, javaVersion } from './java-toolchain.ts'
import { missingJavac } from './javac.ts'
import type { Found, Part } from './part.ts'
import { freePort } from './ports.ts'
import { startServer, untilReady } from './process.ts'
import { partDirectory } from './workspace.ts'

export type OpensearchAddress = { readonly url: string }

/** The last version that runs on Java 17. */
const VERSION = '2.19.6'
const VARIABLE = 'OPENSEARCH_URL'
const JARS = `opensearch-${VERSION}`
const ARTIFACTS: readonly Artifact[] = [
  ['org.opensearch', 'opensearch', VERSION],
  ['org.opensearch.plugin', 'transport-netty4-client', VERSION],
  ['org.apache.logging.log4j', 'log4j-core', '2.25.3'],
]
const JVM = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
const PROGRAM = join(import.meta.dirname, 'java-opensearch.java')
const READY_TIMEOUT_MS = 240_000

/** A node of OpenSearch without modules for security. It is shared by all tests of a run: use separate indices. */
export function opensearchPart(name: string): Part<OpensearchAddress> {
  return { name, version: VERSION, find: findOpensearch, start: () => startOpensearch(name) }
}

async function findOpensearch(): Promise<Found> {
  const named = process.env[VARIABLE]
  if (named !== undefined) return { how: 'environment', detail: `${VARIABLE}=${named}`, cached: true }
  const java = await javaVersion()
  if (java === undefined) return { how: 'missing', detail: 'there is no java on PATH' }
  if (java < JAVA_MIN) return { how: 'missing', detail: `java is ${java}, OpenSearch needs ${JAVA_MIN}` }
  const compiler = await missingJavac()
  if (compiler !== undefined) return compiler
  const cached = cachedJars(JARS) !== undefined
  if (!cached && !(await hasMaven())) return { how: 'missing', detail: 'there is no mvn on PATH to fetch the jars' }
  return { how: 'toolchain', detail: `Java ${java}, jars from Maven Central`, cached }
}

/** Takes about 10 s. The first start downloads 43 MB. */
async function startOpensearch(name: string) {
  const named = process.env[VARIABLE]
  if (named !== undefined) return { address: { url: named }, stop: async () => {} }
  const classpath = await resolveJars(JARS, ARTIFACTS)
  const directory = partDirectory(name)
  // It must exist, and may be empty.
  await mkdir(join(directory, 'config'), { recursive: true })
  const [http, transport] = [await freePort(), await freePort()]
  const logFile = join(directory, 'output.log')
  const args = [...JVM, '-cp', classpath, PROGRAM, directory, `${http}`, `${transport}`]
  const server = startServer({ file: 'java', args, directory }, logFile)
  const url = `http://127.0.0.1:${http}`
  const what = { what: `OpenSearch ${VERSION}`, logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }
  await untilReady(server, what, () => answers(`${url}/_cluster/health?wait_for_status=yellow&timeout=1s`))
  return { address: { url }, stop: () => server.kill() }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).ok
  } catch {
    return false
  }
}
