import { join } from 'node:path'
import { javaOfMachine } from './java-toolchain.ts'
import { missingJavac } from './javac.ts'
import type { Part } from './part.ts'
import { freePort } from './ports.ts'
import { untilReady } from './process.ts'
import { accepts } from './tcp.ts'
import { partDirectory } from './workspace.ts'

export type JavaAvroAddress = { readonly url: string; readonly version: string }

const VERSION = '1.12.1'
const READY_TIMEOUT_MS = 180_000

/** Apache Avro for Java, for comparison. No container image has it, so it requires Java on this machine. */
export function javaAvroPart(name: string): Part<JavaAvroAddress> {
  return {
    name,
    version: VERSION,
    async find() {
      const missing = await missingJavac()
      if (missing) return missing
      return javaOfMachine.find('avro', VERSION)
    },
    async start() {
      await javaOfMachine.prepare('avro', VERSION)
      const directory = partDirectory(name)
      const port = await freePort()
      const server = await javaOfMachine.start({
        bundle: 'avro',
        version: VERSION,
        // A source file, which Java compiles when it starts.
        main: join(import.meta.dirname, 'java-avro.java'),
        args: [String(port)],
        jvm: ['-Dsun.net.httpserver.nodelay=true', '-Xmx512m', '-Xss1m', '-XX:+UseSerialGC'],
        directory,
      })
      const logFiles = [join(directory, 'output.log')]
      const what = `Apache Avro ${VERSION}`
      await untilReady(server, { what, logFiles, timeoutMs: READY_TIMEOUT_MS }, () => accepts(`127.0.0.1:${port}`))
      return { address: { url: `http://127.0.0.1:${port}`, version: VERSION }, stop: () => server.kill() }
    },
  }
}

/** `dependencies` are parsed first, with the same parser. If not `strict`, names and defaults are not validated. */
type Reading = { readonly strict?: boolean; readonly dependencies?: readonly string[] }
export type ToPrint = Reading & { readonly schema: string }
export type ToCompare = Reading & { readonly reader: string; readonly writer: string; readonly seed: number }

/** `error`: a schema was rejected, or the comparison failed. */
export type Printed = { readonly printed: string; readonly error?: never } | { readonly error: string }
export type Compared =
  | {
      /** The incompatibilities that `SchemaCompatibility` reports. */
      readonly findings: readonly { readonly type: string; readonly path: string; readonly info: string }[]
      /** True: the resolving reader contains an error action. Null: no reader can be created for these aliases. */
      readonly refused: boolean | null
      /** The error of reading a random value of the writer; null if all could be read. */
      readonly unread: string | null
      /** Random values of the writer, and the same after they were read and written with the reader's schema; in hex. */
      readonly resolved: readonly { readonly written: string; readonly read: string }[]
      readonly error?: never
    }
  | { readonly error: string }

export type ToEquate = Reading & { readonly one: string; readonly other: string }
export type Equated = { readonly equivalent: boolean; readonly error?: never } | { readonly error: string }

/** Sends a request to the running library. */
export function askJavaAvro(avro: JavaAvroAddress, question: ToPrint): Promise<Printed>
export function askJavaAvro(avro: JavaAvroAddress, question: ToCompare): Promise<Compared>
export function askJavaAvro(avro: JavaAvroAddress, question: ToEquate): Promise<Equated>
export async function askJavaAvro(
  avro: JavaAvroAddress,
  question: ToPrint | ToCompare | ToEquate,
): Promise<Printed | Compared | Equated> {
  const response = await fetch(avro.url, { method: 'POST', body: JSON.stringify(question) })
  return (await response.json()) as Printed | Compared | Equated
}
