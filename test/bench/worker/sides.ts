import { startJavaConnect } from '../../env/java-connect.ts'
import { partDirectory } from '../../env/workspace.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'
import type { Settings } from '../settings.ts'

export type BenchWorker = { readonly url: string; readonly pid: number | undefined; stop(): Promise<void> }

/** One of the two compared workers. */
export type Side = {
  readonly name: string
  /** Resolves when it responds. Without `groupId` it uses a new group. */
  start(settings: Readonly<Record<string, string>>, groupId?: string): Promise<BenchWorker>
}

const JVM = ['-Xms256m', '-Xmx1g', '-XX:+UseSerialGC']

/** Each part of the benchmark runs in a process of its own, on the same Kafka. */
let groups = 0

/** Weir's worker and Java's, on the Kafka cluster of this run. */
export function sidesOn({ bootstrap, client = {}, replicas }: Settings): readonly [ours: Side, java: Side] {
  const common = { ...ofAllClients(client), ...(replicas === undefined ? {} : replication(replicas)) }
  return [
    {
      name: 'weir',
      start: (settings, groupId = `weir-${process.pid}-${groups++}`) =>
        startWorkerProcess({ log: ['--bootstrap', bootstrap], groupId, settings: { ...common, ...settings } }),
    },
    {
      name: 'java',
      start: (properties, groupId = `java-${process.pid}-${groups++}`) =>
        startJavaConnect({ bootstrap, groupId, properties: { ...common, ...properties }, jvm: JVM }),
    },
  ]
}

/** Those of the worker itself, and those of the clients of its connectors. */
function ofAllClients(client: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const prefixes = ['', 'producer.', 'consumer.', 'admin.']
  return Object.fromEntries(
    prefixes.flatMap((prefix) => Object.entries(client).map(([key, value]) => [`${prefix}${key}`, value])),
  )
}

function replication(replicas: number): Readonly<Record<string, string>> {
  const kinds = ['config', 'offset', 'status']
  return Object.fromEntries(kinds.map((kind) => [`${kind}.storage.replication.factor`, String(replicas)]))
}

/** Weir's worker, on a new embedded broker each time. */
export function weirOnItsOwnLog(): Side {
  return {
    name: 'weir',
    start: (settings) => startWorkerProcess({ log: ['--data', partDirectory('data')], groupId: 'weir', settings }),
  }
}
