import type { Bundle } from './jars.ts'
import { javaInDocker } from './java-docker.ts'
import { javaOfMachine } from './java-toolchain.ts'
import type { Found } from './part.ts'
import type { Output, Server } from './process.ts'

/** One run of a Java program of Kafka's. `directory` is the only place it reads from and writes to. */
export type JavaRun = {
  readonly bundle: Bundle
  readonly version: string
  readonly main: string
  readonly args: readonly string[]
  readonly jvm: readonly string[]
  readonly directory: string
}

/** A way to run Java programs of Kafka's: in a container, or with what this machine has. */
export type JavaWay = {
  find(bundle: Bundle, version: string): Promise<Found>
  /** Fetches what is missing; rejects when that can't be had. */
  prepare(bundle: Bundle, version: string): Promise<void>
  /** What the program prints goes to `output.log` in its directory. */
  start(run: JavaRun): Promise<Server>
  /** To its end, whatever its exit code. */
  run(run: JavaRun): Promise<Output>
}

/** For short runs: the second compiler costs more than it brings. */
export const SHORT_LIVED = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx256m']

/** In this order; the first one that works. */
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

export async function startJava(run: JavaRun): Promise<Server> {
  return (await wayFor(run)).start(run)
}

export async function runJava(run: JavaRun): Promise<Output> {
  return (await wayFor(run)).run(run)
}

/** Chosen once for a bundle: an engine that answers but can't get the image gives way to the next. */
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
