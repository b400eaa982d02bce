import { join } from 'node:path'
import { dockerAnswers } from './docker.ts'
import { type Bundle, cachedClasspath, resolveClasspath } from './jars.ts'
import type { Found } from './part.ts'
import { type Output, run, type Server, startServer } from './process.ts'

/** One run of a Java program of Kafka's. `directory` is the only place it reads from and writes to. */
export type JavaRun = {
  readonly bundle: Bundle
  readonly version: string
  readonly main: string
  readonly args: readonly string[]
  readonly jvm: readonly string[]
  readonly directory: string
}

/** For short runs: the second compiler costs more than it brings. */
export const SHORT_LIVED = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx256m']

/** The image has every bundle; with the host's network all addresses are those of a process of this machine. */
const image = (version: string) => `apache/kafka:${version}`
const IMAGE_CLASSPATH = '/opt/kafka/libs/*'

export async function findJava(bundle: Bundle, version: string): Promise<Found> {
  if (await dockerAnswers()) return { how: 'docker', detail: image(version), cached: false }
  const java = await javaVersion()
  if (java === undefined) return { how: 'missing', detail: 'no Docker engine answers, and there is no java on PATH' }
  if (java < 17) return { how: 'missing', detail: `no Docker engine answers, and java is ${java}: Kafka needs 17` }
  const cached = cachedClasspath(bundle, version) !== undefined
  if (!cached && !(await succeeds('mvn', ['--version']))) {
    return { how: 'missing', detail: 'no Docker engine answers, and there is no mvn on PATH to fetch the jars' }
  }
  return { how: 'toolchain', detail: `Java ${java}, jars from Maven Central`, cached }
}

/** What it prints goes to `output.log` in its directory. */
export async function startJava(java: JavaRun): Promise<Server> {
  if (await dockerAnswers()) return startContainer(java)
  return startServer(await command(java), join(java.directory, 'output.log'))
}

/** Runs a program to its end, whatever its exit code. */
export async function runJava(java: JavaRun): Promise<Output> {
  if (await dockerAnswers()) return runContainer(java)
  return run(await command(java))
}

async function command({ bundle, version, main, args, jvm, directory }: JavaRun) {
  const classpath = await resolveClasspath(bundle, version)
  return { file: 'java', args: [...jvm, '-cp', classpath, main, ...args], directory }
}

// ── containers ──────────────────────────────────────────────────────────────────────────────────────────────────────

async function startContainer(java: JavaRun): Promise<Server> {
  const container = await (await containerOf(java)).start()
  let ended: Promise<unknown> | undefined
  const end = async (graceMs: number) => {
    ended ??= container.stop({ timeout: graceMs })
    await ended
  }
  return { pid: undefined, hasExited: () => ended !== undefined, end, kill: () => end(0) }
}

async function runContainer(java: JavaRun): Promise<Output> {
  const { Wait } = await import('testcontainers')
  const collected: string[] = []
  const container = await (await containerOf(java))
    .withLogConsumer((stream) => stream.on('data', (chunk: Buffer) => collected.push(chunk.toString())))
    .withWaitStrategy(Wait.forOneShotStartup())
    .start()
  await container.stop()
  return { code: 0, stdout: collected.join(''), stderr: '' }
}

async function containerOf({ version, main, args, jvm, directory }: JavaRun) {
  const { GenericContainer } = await import('testcontainers')
  return new GenericContainer(image(version))
    .withNetworkMode('host')
    .withUser(`${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`)
    .withBindMounts([{ source: directory, target: directory }])
    .withWorkingDir(directory)
    .withEntrypoint(['java'])
    .withCommand([...jvm, '-cp', IMAGE_CLASSPATH, main, ...args])
}

// ── what is there ───────────────────────────────────────────────────────────────────────────────────────────────────

async function javaVersion(): Promise<number | undefined> {
  try {
    const { stderr } = await run({ file: 'java', args: ['-version'], directory: '.' })
    return Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0)
  } catch {
    return undefined
  }
}

async function succeeds(file: string, args: readonly string[]): Promise<boolean> {
  try {
    return (await run({ file, args, directory: '.' })).code === 0
  } catch {
    return false
  }
}
