import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { createWorkerClient, type WorkerClient } from '../../../src/clients/worker-client.ts'
import type { DebeziumAddress } from '../../env/debezium.ts'
import { startJavaConnect } from '../../env/java-connect.ts'
import { tail } from '../../env/process.ts'
import { createJavaClient } from '../java-requests.ts'
import { WorkerGroup } from '../worker-group.ts'

/** A worker that runs PostgreSQL connectors for change data capture. It is stopped at the end of the test. */
export type CdcWorker = {
  readonly name: 'Weir' | 'Debezium'
  readonly client: WorkerClient
  /** The end of its log. */
  log(): string
}

const SETTINGS = { 'offset.flush.interval.ms': '500' }

/** A worker of Kafka Connect with Debezium's connector. */
export async function startDebeziumWorker(bootstrap: string, { postgres }: DebeziumAddress): Promise<CdcWorker> {
  const worker = await startJavaConnect({
    bootstrap,
    groupId: `debezium-${randomUUID()}`,
    properties: SETTINGS,
    plugins: { 'debezium-connector-postgres': postgres },
  })
  onTestFinished(() => worker.stop())
  const client = createJavaClient(worker.url)
  return { name: 'Debezium', client, log: () => tail(worker.logFile) }
}

/** A worker of Weir, which runs its own connector for Debezium's class name. */
export async function startWeirWorker(bootstrap: string): Promise<CdcWorker> {
  const worker = await new WorkerGroup(bootstrap, { ...SETTINGS, 'worker.thread.blocked.max.ms': '60000' }).startOne()
  const client = createWorkerClient({ url: worker.url, timeoutMs: 60_000 })
  return { name: 'Weir', client, log: () => tail(worker.logFile) }
}
