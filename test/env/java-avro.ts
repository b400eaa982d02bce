import { join } from 'node:path'
import { javaOfMachine } from './java-toolchain.ts'
import type { Part } from './part.ts'
import { freePort } from './ports.ts'
import { run, untilReady } from './process.ts'
import { accepts } from './tcp.ts'
import { partDirectory } from './workspace.ts'

export type JavaAvroAddress = { readonly url: string; readonly version: string }

const VERSION = '1.12.1'
const READY_TIMEOUT_MS = 60_000

/** Apache Avro for Java, to compare our reading of Avro with. No image has it: the machine's own Java, or nothing. */
export function javaAvroPart(name: string): Part<JavaAvroAddress> {
  return {
    name,
    version: VERSION,
    async find() {
      const compiles = await run({ file: 'javac', args: ['-version'], directory: '.' }).catch(() => undefined)
      if (compiles?.code !== 0) return { how: 'missing', detail: 'there is no javac on PATH' }
      return javaOfMachine.find('avro', VERSION)
    },
    async start() {
      await javaOfMachine.prepare('avro', VERSION)
      const directory = partDirectory(name)
      const port = await freePort()
      const server = await javaOfMachine.start({
        bundle: 'avro',
        version: VERSION,
        // A file of source: Java compiles it as it starts.
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

/** `dependencies` are read first, into the same parser. Not `strict`: names and default values pass unchecked. */
type Reading = { readonly strict?: boolean; readonly dependencies?: readonly string[] }
export type ToPrint = Reading & { readonly schema: string }
export type ToCompare = Reading & { readonly reader: string; readonly writer: string; readonly seed: number }

/** `error`: a schema was not accepted, or the comparison gave up. */
export type Printed = { readonly printed: string; readonly error?: never } | { readonly error: string }
export type Compared =
  | {
      /** What `SchemaCompatibility` finds. */
      readonly findings: readonly { readonly type: string; readonly path: string; readonly info: string }[]
      /** A reader for these two has a place at which it can only fail. Null: there is no reader for aliases like these. */
      readonly refused: boolean | null
      /** Why one of the random values of the writer could not be read. */
      readonly unread: string | null
      readonly error?: never
    }
  | { readonly error: string }

export type ToEquate = Reading & { readonly one: string; readonly other: string }
export type Equated = { readonly equivalent: boolean; readonly error?: never } | { readonly error: string }

/** Asks the running library. */
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
