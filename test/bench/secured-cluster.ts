import { type KafkaCluster, startKafkaCluster } from '../env/kafka-cluster.ts'
import { BROKER_JVM, type Settings } from './settings.ts'

const USER = 'bench'

/**
 * Measures on a cluster as it is used: three brokers, three replicas, all of which acknowledge, TLS with a login by SCRAM,
 * and batches that are compressed with lz4. Both sides have the same settings.
 */
export async function onSecuredCluster<Result>(
  settings: Settings,
  measure: (settings: Settings, cluster: KafkaCluster) => Promise<Result>,
): Promise<Result> {
  const cluster = await startKafkaCluster({ users: { [USER]: 'bench-secret' }, jvm: BROKER_JVM })
  const client = { ...cluster.clientSettings(USER), acks: 'all', 'compression.type': 'lz4' }
  try {
    return await measure({ ...settings, bootstrap: cluster.securedBootstrap, client, replicas: 3 }, cluster)
  } finally {
    await cluster.stop()
  }
}
