import { undefinedIfNotFound } from '../clients/http-client.ts'
import type { ExpandedConnector, WorkerClient } from '../clients/worker-client.ts'
import { mapConcurrently } from '../common/map-concurrently.ts'

/** All connectors of a worker, also those without a status. Kafka Connect before version 2.3 has no expanded list. */
export async function collectConnectors(client: WorkerClient): Promise<Readonly<Record<string, ExpandedConnector>>> {
  const names = await client.names()
  return Object.fromEntries(
    await mapConcurrently(names, async (name) => [name, await readConnector(client, name)] as const),
  )
}

/** A connector, of which the parts that do not exist are absent. */
export async function readConnector(client: WorkerClient, name: string): Promise<ExpandedConnector> {
  const [info, status] = await Promise.all([
    undefinedIfNotFound(client.get(name)),
    undefinedIfNotFound(client.status(name)),
  ])
  return { ...(info && { info }), ...(status && { status }) }
}
