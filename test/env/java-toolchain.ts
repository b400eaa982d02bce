import { delimiter, join } from 'node:path'
import { type ClassArchive, classArchive } from './class-archive.ts'
import { cachedClasspath, resolveClasspath } from './jars.ts'
import type { JavaRun, JavaWay } from './java.ts'
import { type Command, run, startServer } from './process.ts'
import { SUPPORTED_VERSIONS } from './supported-versions.ts'

/** Minimum Java version of Kafka, Apicurio and Java plugins. */
export const JAVA_MIN = Number(SUPPORTED_VERSIONS.java.oldest)

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
  async start(java) {
    const archive = await archiveOf(java)
    const server = startServer(await command(java, archive), join(java.directory, 'output.log'))
    return {
      ...server,
      freeze: async () => void process.kill(server.pid!, 'SIGSTOP'),
      thaw: async () => void process.kill(server.pid!, 'SIGCONT'),
      async stop() {
        if (archive?.isWritten !== true) return server.kill()
        await server.end(ARCHIVE_MS)
        archive.publish()
      },
    }
  },
  async run(java) {
    const archive = await archiveOf(java)
    const output = await run(await command(java, archive))
    if (output.code === 0) archive?.publish()
    return output
  },
}

/** For the exit of a server that writes the archive of its classes. */
const ARCHIVE_MS = 60_000

async function command(java: JavaRun, archive?: ClassArchive): Promise<Command> {
  const { bundle, version, main, args, jvm, directory, moreClasspath } = java
  const classpath = [await resolveClasspath(bundle, version), ...(moreClasspath ? [moreClasspath] : [])].join(delimiter)
  return { file: 'java', args: [...(archive?.jvm ?? []), ...jvm, '-cp', classpath, main, ...args], directory }
}

/** An archive is for one class path. */
async function archiveOf(java: JavaRun): Promise<ClassArchive | undefined> {
  const { bundle, version, main, directory, moreClasspath, usesClassArchive } = java
  if (usesClassArchive !== true || moreClasspath !== undefined) return undefined
  const classpath = await resolveClasspath(bundle, version)
  return classArchive({
    name: `${bundle}-${version}-${main}`,
    classpath,
    release: (await javaRelease()) ?? '',
    directory,
  })
}

/** Major version of the machine's Java. */
export async function javaVersion(): Promise<number | undefined> {
  const release = await javaRelease()
  return release === undefined ? undefined : Number(/version "(\d+)/.exec(release)?.[1] ?? 0)
}

let release: Promise<string | undefined> | undefined

/** What `java -version` prints. */
function javaRelease(): Promise<string | undefined> {
  release ??= run({ file: 'java', args: ['-version'], directory: '.' }).then(
    ({ stderr }) => stderr,
    () => undefined,
  )
  return release
}

export async function hasMaven(): Promise<boolean> {
  try {
    return (await run({ file: 'mvn', args: ['--version'], directory: '.' })).code === 0
  } catch {
    return false
  }
}
