import { delimiter, join } from 'node:path'
import { cachedClasspath, resolveClasspath } from './jars.ts'
import type { JavaRun, JavaWay } from './java.ts'
import { type Command, run, startServer } from './process.ts'

/** Minimum Java version of Kafka and Apicurio. */
export const JAVA_MIN = 17

/** Runs Java programs with the Java of this machine, and jars that its Maven downloads from Maven Central. */
export const javaOfMachine: JavaWay = {
  async find(bundle, version) {
    const java = await javaVersion()
    if (java === undefined) return { how: 'missing', detail: 'there is no java on PATH' }
    if (java < JAVA_MIN) return { how: 'missing', detail: `java is ${java}, Kafka needs ${JAVA_MIN}` }
    const cached = cachedClasspath(bundle, version) !== undefined
    if (!cached && !(await hasMaven())) return { how: 'missing', detail: 'there is no mvn on PATH to fetch the jars' }
    return { how: 'toolchain', detail: `Java ${java}, jars from Maven Central`, cached }
  },
  async prepare(bundle, version) {
    await resolveClasspath(bundle, version)
  },
  start: async (java) => startServer(await command(java), join(java.directory, 'output.log')),
  run: async (java) => run(await command(java)),
}

async function command(java: JavaRun): Promise<Command> {
  const { bundle, version, main, args, jvm, directory, moreClasspath } = java
  const classpath = [await resolveClasspath(bundle, version), ...(moreClasspath ? [moreClasspath] : [])].join(delimiter)
  return { file: 'java', args: [...jvm, '-cp', classpath, main, ...args], directory }
}

/** Major version of the machine's Java. */
export async function javaVersion(): Promise<number | undefined> {
  try {
    const { stderr } = await run({ file: 'java', args: ['-version'], directory: '.' })
    return Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0)
  } catch {
    return undefined
  }
}

export async function hasMaven(): Promise<boolean> {
  try {
    return (await run({ file: 'mvn', args: ['--version'], directory: '.' })).code === 0
  } catch {
    return false
  }
}
