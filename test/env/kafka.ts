import { findJava, runJava, SHORT_LIVED } from './java.ts'
import { writeLogging } from './java-logging.ts'
import { createKafkaNode, type KafkaNode, type KafkaNodeOptions } from './kafka-node.ts'
import type { Part } from './part.ts'
import type { Output } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { SUPPORTED_VERSIONS } from './supported-versions.ts'
import { partDirectory } from './workspace.ts'

/** `docs/kafka.md` states them. Tests use the first one unless they name another. */
export const KAFKA_VERSIONS = SUPPORTED_VERSIONS.kafka.tested
export type KafkaVersion = (typeof KAFKA_VERSIONS)[number]

export type KafkaAddress = { readonly bootstrap: string; readonly version: string }

/** A cluster of one broker that is shared by all tests of a run: use unique topics and groups. */
export function kafkaPart(name: string, version: KafkaVersion, variable: string): Part<KafkaAddress> {
  const named = () => process.env[variable]
  return {
    name,
    version,
    async find() {
      if (named() !== undefined) return { how: 'environment', detail: `${variable}=${named()}`, cached: true }
      return findJava('kafka', version)
    },
    async start() {
      const bootstrap = named()
      if (bootstrap !== undefined) return { address: { bootstrap, version: 'named' }, stop: async () => {} }
      const kafka = await startKafka({ version })
      return { address: { bootstrap: kafka.bootstrap, version }, stop: () => kafka.stop() }
    },
  }
}

export type KafkaOptions = Omit<KafkaNodeOptions, 'version' | 'startsCold'> & {
  /** Default: the first of `KAFKA_VERSIONS`. */
  readonly version?: KafkaVersion
  /** Further arguments of `kafka-storage format`, such as `--add-scram`. */
  readonly format?: readonly string[]
}

/** A broker for one test. `listeners` has a `host:port` for each name; `bootstrap` is the plain listener. */
export type Kafka = KafkaAddress &
  Pick<KafkaNode, 'listeners' | 'dataDirectory' | 'pid' | 'kill' | 'shutDown' | 'freeze' | 'thaw'> & {
    /** After `kill` or `shutDown`: starts it with the same data and ports. */
    restart(): Promise<void>
    /** Stops it and removes the data. */
    stop(): Promise<void>
  }

/** Starts a cluster of one broker and waits until it is ready. Takes 3 s, plus 10 s if the jars are not cached. */
export async function startKafka({ format = [], ...options }: KafkaOptions = {}): Promise<Kafka> {
  const version = options.version ?? KAFKA_VERSIONS[0]
  // Benchmarks pass JVM arguments.
  const node = await createKafkaNode(1, { ...options, version, startsCold: options.jvm !== undefined })
  node.configure([node])
  await node.format(format)
  await node.start()
  return { ...node, version, bootstrap: node.listeners['PLAINTEXT']!, restart: node.start, stop: node.remove }
}

export type KafkaToolOptions = { readonly version?: KafkaVersion; readonly jvm?: readonly string[] }

/** Runs a command line tool of Kafka: a class in `org.apache.kafka.tools`, such as `consumer.ConsoleConsumer`. */
export async function kafkaTool(
  tool: string,
  args: readonly string[],
  options: KafkaToolOptions = {},
): Promise<Output> {
  const version = options.version ?? KAFKA_VERSIONS[0]
  const directory = partDirectory('tool')
  const logging = writeLogging(directory, version)
  const main = `org.apache.kafka.tools.${tool}`
  try {
    const jvm = [...(options.jvm ?? SHORT_LIVED), logging]
    const usesClassArchive = options.jvm === undefined
    return await runJava({ bundle: 'kafka', version, main, args, jvm, usesClassArchive, directory })
  } finally {
    removeDirectory(directory)
  }
}
