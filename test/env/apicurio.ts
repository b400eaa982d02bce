import { existsSync, mkdtempSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheDirectory } from './cache.ts'
import { hasMaven, JAVA_MIN, javaVersion } from './java-toolchain.ts'
import type { Found, Part } from './part.ts'
import { freePort } from './ports.ts'
import { run, startServer, untilReady } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { partDirectory } from './workspace.ts'

export type ApicurioAddress = { readonly url: string; readonly version: string }
export type Apicurio = ApicurioAddress & { readonly pid: number | undefined; stop(): Promise<void> }

/** The last version that runs on Java 17. */
const VERSION = '2.6.13.Final'
const VARIABLE = 'APICURIO_URL'
const UNPACK = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack'
const JVM = ['-Xmx512m', '-XX:+UseSerialGC']
const READY_TIMEOUT_MS = 180_000

/** Apicurio Registry with in-memory storage, for comparison. `url` is the address of its Confluent-compatible API. */
export function apicurioPart(name: string): Part<ApicurioAddress> {
  return {
    name,
    version: VERSION,
    find: findApicurio,
    async start() {
      const apicurio = await startApicurio()
      return { address: { url: apicurio.url, version: apicurio.version }, stop: () => apicurio.stop() }
    },
  }
}

export async function findApicurio(): Promise<Found> {
  const named = process.env[VARIABLE]
  if (named !== undefined) return { how: 'environment', detail: `${VARIABLE}=${named}`, cached: true }
  const java = await javaVersion()
  if (java === undefined) return { how: 'missing', detail: 'there is no java on PATH' }
  if (java < JAVA_MIN) return { how: 'missing', detail: `java is ${java}, Apicurio needs ${JAVA_MIN}` }
  const cached = existsSync(appDirectory())
  if (!cached && !(await hasMaven())) return { how: 'missing', detail: 'there is no mvn on PATH to fetch it' }
  return { how: 'toolchain', detail: `Java ${java}, from Maven Central`, cached }
}

/** Takes about 4 s. The first start downloads 142 MB. */
export async function startApicurio(): Promise<Apicurio> {
  const named = process.env[VARIABLE]
  if (named !== undefined) return { url: named, version: 'named', pid: undefined, stop: async () => {} }
  if (!existsSync(appDirectory())) await fetchApp()
  const directory = partDirectory('apicurio')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/apis/ccompat/v7`
  const jar = join(appDirectory(), `apicurio-registry-app-${VERSION}-runner.jar`)
  const args = [...JVM, '-Dquarkus.http.host=127.0.0.1', `-Dquarkus.http.port=${port}`, '-jar', jar]
  const logFile = join(directory, 'output.log')
  const server = startServer({ file: 'java', args, directory }, logFile)
  const what = { what: `Apicurio ${VERSION}`, logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }
  await untilReady(server, what, () => answers(`${url}/subjects`))
  return {
    url,
    version: VERSION,
    pid: server.pid,
    async stop() {
      await server.kill()
      removeDirectory(directory)
    },
  }
}

function appDirectory(): string {
  return join(cacheDirectory('apicurio'), VERSION)
}

/** Unpacks to a temporary directory and renames it, because another run may do the same concurrently. */
async function fetchApp(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'weir-apicurio-'))
  const unpacked = `${appDirectory()}.${process.pid}`
  try {
    const artifact = `io.apicurio:apicurio-registry-app:${VERSION}:zip:all`
    const args = ['-q', '-B', UNPACK, `-Dartifact=${artifact}`, `-DoutputDirectory=${unpacked}`]
    const { code, stdout, stderr } = await run({ file: 'mvn', args, directory })
    if (code !== 0) throw new Error(`Maven could not bring Apicurio ${VERSION}:\n${stdout}${stderr}`)
    if (!existsSync(appDirectory())) renameSync(unpacked, appDirectory())
  } finally {
    removeDirectory(unpacked)
    removeDirectory(directory)
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).ok
  } catch {
    return false
  }
}
