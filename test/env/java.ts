import type { Bundle } from './jars.ts'
import { javaInDocker } from './java-docker.ts'
import { javaOfMachine } from './java-toolchain.ts'
import type { Found } from './part.ts'
import type { Output, Server } from './process.ts'

/** One run of a Java program of Kafka. It reads and writes only in `directory`. */
export type JavaRun = {
  readonly bundle: Bundle
  readonly version: string
  readonly main: string
  readonly args: readonly string[]
  readonly jvm: readonly string[]
  readonly directory: string
  /** More class path, after the jars of the bundle. It must be below `directory`. */
  readonly moreClasspath?: string
  /** Starts with an archive of the program's classes, if the way can provide one. Not for measurements of a start. */
  readonly usesClassArchive?: boolean
}

export type JavaServer = Server & {
  /** Ends a server whose data is not needed: kills it, unless it is the first one and writes the archive of its classes. */
  stop(): Promise<void>
  /** Stops its threads until `thaw` (SIGSTOP); its connections stay open. */
  freeze(): Promise<void>
  thaw(): Promise<void>
}

/** A way to run Java programs of Kafka: in a container, or with the toolchain of this machine. */
export type JavaWay = {
  find(bundle: Bundle, version: string): Promise<Found>
  /** Downloads missing files. Rejects if they are not available. */
  prepare(bundle: Bundle, version: string): Promise<void>
  /** The output of the program is written to `output.log` in its directory. */
  start(run: JavaRun): Promise<JavaServer>
  /** Runs the program until it exits, with any exit code. */
  run(run: JavaRun): Promise<Output>
}

/** JVM arguments for short runs, which the second JIT compiler would slow down. */
export const SHORT_LIVED = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx512m']

/** The first one that works is used. */
const WAYS: readonly JavaWay[] = [javaInDocker, javaOfMachine]
const prepared = new Map<string, Promise<JavaWay>>()

export async function findJava(bundle: Bundle, version: string): Promise<Found> {
  const reasons: string[] = []
  for (const way of WAYS) {
    const found = await way.find(bundle, version)
    if (found.how !== 'missing') return found
    reasons.push(found.detail)
  }
  return { how: 'missing', detail: reasons.join(', ') }
}

export async function startJava(run: JavaRun): Promise<JavaServer> {
  return (await wayFor(run)).start(run)
}

export async function runJava(run: JavaRun): Promise<Output> {
  return (await wayFor(run)).run(run)
}

/** Chosen once per bundle and version. A container engine that cannot pull the image is skipped. */
function wayFor({ bundle, version }: JavaRun): Promise<JavaWay> {
  const key = `${bundle} ${version}`
  const way = prepared.get(key) ?? prepareWay(bundle, version)
  prepared.set(key, way)
  return way
}

async function prepareWay(bundle: Bundle, version: string): Promise<JavaWay> {
  const failures: unknown[] = []
  for (const way of WAYS) {
    const found = await way.find(bundle, version)
    try {
      if (found.how === 'missing') throw new Error(found.detail)
      await way.prepare(bundle, version)
      return way
    } catch (error) {
      failures.push(error)
    }
  }
  throw new Error(`${bundle} ${version} can't be run here: ${failures.map(String).join('; ')}`)
}
