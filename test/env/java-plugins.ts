import { join } from 'node:path'
import { javaOfMachine } from './java-toolchain.ts'
import { missingJavac } from './javac.ts'
import type { Part } from './part.ts'
import { freePort } from './ports.ts'
import { untilReady } from './process.ts'
import { accepts } from './tcp.ts'
import { partDirectory } from './workspace.ts'

export type JavaPluginsAddress = { readonly url: string; readonly version: string }

const VERSION = '4.3.1'
const READY_TIMEOUT_MS = 180_000

/** The converters, transforms and predicates of Kafka Connect and Debezium, for comparison. */
export function javaPluginsPart(name: string): Part<JavaPluginsAddress> {
  return {
    name,
    version: VERSION,
    async find() {
      const missing = await missingJavac()
      if (missing) return missing
      return javaOfMachine.find('plugins', VERSION)
    },
    async start() {
      await javaOfMachine.prepare('plugins', VERSION)
      const directory = partDirectory(name)
      const port = await freePort()
      const server = await javaOfMachine.start({
        bundle: 'plugins',
        version: VERSION,
        // A source file, which Java compiles when it starts.
        main: join(import.meta.dirname, 'java-plugins.java'),
        args: [String(port)],
        jvm: ['-Dsun.net.httpserver.nodelay=true', '-Duser.timezone=UTC', '-Xmx512m', '-XX:+UseSerialGC'],
        directory,
      })
      const logFiles = [join(directory, 'output.log')]
      const what = `the plugins of Kafka Connect ${VERSION}`
      await untilReady(server, { what, logFiles, timeoutMs: READY_TIMEOUT_MS }, () => accepts(`127.0.0.1:${port}`))
      return { address: { url: `http://127.0.0.1:${port}`, version: VERSION }, stop: () => server.kill() }
    },
  }
}

/** The results of the Java classes for each case. `java-plugins.java` defines the format of a case. */
export async function askJavaPlugins(
  plugins: JavaPluginsAddress,
  cases: readonly object[],
): Promise<readonly object[]> {
  const response = await fetch(plugins.url, { method: 'POST', body: JSON.stringify(cases) })
  return (await response.json()) as readonly object[]
}
