import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrokerAddress } from '../../src/broker/broker-address.ts'
import { kafkaTool } from '../env/kafka.ts'
import { partDirectory } from '../env/workspace.ts'
import { runClient } from './client.ts'
import type { Figure } from './figures.ts'
import type { LogTask, LogTimes } from './log-client.ts'
import { onSecuredCluster } from './secured-cluster.ts'
import { progress, type Settings } from './settings.ts'

type Rates = { readonly produce: number; readonly read: number }

/** Measures produce and read rates of `src/broker` with both backends, and of Java's tools on the same Kafka. */
export async function benchLog(settings: Settings): Promise<readonly Figure[]> {
  const java: Rates[] = []
  const kafka: Rates[] = []
  const embedded: Rates[] = []
  for (let round = 1; round <= settings.rounds; round++) {
    progress(`log: round ${round} of ${settings.rounds}`)
    java.push(await javaRates(settings, `java-${round}`))
    const config = { ...settings.client, 'bootstrap.servers': settings.bootstrap }
    kafka.push(await ourRates(settings, { kind: 'kafka', config }, `kafka-${round}`))
    if (settings.client !== undefined) continue
    const directory = partDirectory('embedded')
    embedded.push(await ourRates(settings, { kind: 'embedded', directory }, `embedded-${round}`))
  }
  const figure = (step: keyof Rates, ours: Rates[], name: string, against: Rates[], aim: number): Figure => ({
    name: `${step}, ${ours === embedded ? 'embedded' : 'Kafka'}`,
    unit: 'rec/s',
    ours: ours.map((rates) => rates[step]),
    against: { name, values: against.map((rates) => rates[step]) },
    aim,
  })
  const besideJava = [figure('produce', kafka, 'Java', java, 1), figure('read', kafka, 'Java', java, 1)]
  if (settings.client !== undefined) return besideJava
  return [
    ...besideJava,
    figure('produce', embedded, 'Weir on Kafka', kafka, 0.5),
    figure('read', embedded, 'Weir on Kafka', kafka, 0.5),
  ]
}

export function benchLogOnCluster(settings: Settings): Promise<readonly Figure[]> {
  return onSecuredCluster(settings, benchLog)
}

/** Runs each step in a separate process. */
async function ourRates(settings: Settings, address: BrokerAddress, topic: string): Promise<Rates> {
  const { records, client, replicas = 1 } = settings
  const compression = client?.['compression.type'] as LogTask['compression']
  const task = { address, topic, records, compression, replicas }
  const { produceMs } = await runLog(settings, { ...task, steps: ['produce'] })
  const { readMs } = await runLog(settings, { ...task, steps: ['read'] })
  return { produce: perSecond(settings, produceMs!), read: perSecond(settings, readMs!) }
}

/** The client is that of the measured checkout, because it imports its `src`. */
function runLog({ checkout }: Settings, task: LogTask): Promise<LogTimes> {
  return runClient(join(checkout, 'test/bench/log-client.ts'), task)
}

async function javaRates({ bootstrap, records, client = {} }: Settings, topic: string): Promise<Rates> {
  // The JVM options of Kafka's scripts.
  const jvm = ['-Xmx512m']
  // Without a payload file the tool generates each byte randomly, which would be measured, too.
  const directory = partDirectory('payload')
  const payload = join(directory, 'payload.txt')
  writeFileSync(payload, 'x'.repeat(100))
  const config = join(directory, 'client.properties')
  writeFileSync(
    config,
    Object.entries(client)
      .map((pair) => `${pair.join('=')}\n`)
      .join(''),
  )
  const connection = ['--bootstrap-server', bootstrap, '--command-config', config]
  const produced = await kafkaTool(
    'ProducerPerformance',
    [
      ...['--topic', topic, '--num-records', String(records), '--payload-file', payload, '--throughput', '-1'],
      ...connection,
    ],
    { jvm },
  )
  const consumed = await kafkaTool(
    'ConsumerPerformance',
    [...connection, '--topic', topic, '--messages', String(records), '--timeout', '60000'],
    { jvm },
  )
  const produce = /records sent, ([\d.]+) records\/sec/g
  const last = [...produced.stdout.matchAll(produce)].at(-1)?.[1]
  const columns = consumed.stdout.trim().split('\n').at(-1)?.split(', ') ?? []
  if (last === undefined || Number(columns[4]) < records) {
    throw new Error(
      `Java's tools printed no rate:\n${produced.stdout}${produced.stderr}${consumed.stdout}${consumed.stderr}`,
    )
  }
  return { produce: Number(last), read: Number(columns[5]) }
}

function perSecond({ records }: Settings, ms: number): number {
  return (records / ms) * 1000
}
