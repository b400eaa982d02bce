import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { type Artifact, resolveClasspath, resolveJars } from './jars.ts'
import { javaOfMachine } from './java-toolchain.ts'
import { missingJavac } from './javac.ts'
import type { Part } from './part.ts'
import { run } from './process.ts'
import { partDirectory } from './workspace.ts'

export type JavaHostAddress = {
  /** The value of `java.host.directory`. */
  readonly directory: string
  /** Paths of Kafka's own jars, for use as plugins. */
  readonly jars: { readonly file: string; readonly transforms: string; readonly json: string; readonly runtime: string }
  /** What `javac` needs to compile test plugins. */
  readonly classpath: string
}

const VERSION = '4.3.1'
const SCRIPT = join(import.meta.dirname, '../../scripts/build-java-host.mjs')

/** Weir's Java host, compiled from this checkout, and real plugins for it. */
export function javaHostPart(name: string): Part<JavaHostAddress> {
  return {
    name,
    version: VERSION,
    async find() {
      const missing = await missingJavac()
      if (missing) return missing
      const host = await javaOfMachine.find('java-host', VERSION)
      return host.how === 'missing' ? host : javaOfMachine.find('connect', VERSION)
    },
    async start() {
      const directory = partDirectory(name)
      const classpath = await resolveClasspath('java-host', VERSION)
      const connect = (await resolveClasspath('connect', VERSION)).split(delimiter)
      const jar = (artifact: string) => connect.find((path) => path.endsWith(`/${artifact}-${VERSION}.jar`)) ?? ''
      const jars = {
        file: jar('connect-file'),
        transforms: jar('connect-transforms'),
        json: jar('connect-json'),
        runtime: jar('connect-runtime'),
      }
      const args = [SCRIPT, directory, [classpath, jars.runtime].join(delimiter), await resolverJars()]
      const built = await run({ file: process.execPath, args, directory: '.' })
      if (built.code !== 0) throw new Error(`the Java host does not compile:\n${built.stdout}${built.stderr}`)
      return { address: { directory, jars, classpath }, stop: async () => undefined }
    },
  }
}

/** The jars of Apache Maven Resolver that the host is built with, without what they depend on besides. */
async function resolverJars(): Promise<string> {
  const list = readFileSync(join(import.meta.dirname, '../../java/host/resolver.json'), 'utf8')
  const names = Object.keys(JSON.parse(list) as Readonly<Record<string, string>>)
  const artifacts = names.map((name) => name.split(':') as unknown as Artifact)
  const jars = (await resolveJars(`resolver-${hashOf(list)}`, artifacts)).split(delimiter)
  const files = new Set(artifacts.map(([, artifact, version]) => `${artifact}-${version}.jar`))
  return jars.filter((jar) => files.has(basename(jar))).join(delimiter)
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}
