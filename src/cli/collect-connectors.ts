import { undefinedIfNotFound } from '../clients/http-client.ts'
import type { ExpandedConnector, WorkerClient } from '../clients/worker-client.ts'
import { mapConcurrently } from '../common/map-concurrently.ts'

/** All connectors of a worker, also those without a status, which the expanded list leaves out. */
export async function collectConnectors(client: WorkerClient): Promise<Readonly<Record<string, ExpandedConnector>>> {
  const names = await client.names()
  const connectors = await mapConcurrently(names, async (name): Promise<[string, ExpandedConnector]> => {
    const [info, status] = await Promise.all([
      undefinedIfNotFound(client.get(name)),
      undefinedIfNotFound(client.status(name)),
    ])
    return [name, { ...(info && { info }), ...(status && { status }) }]
  })
  return Object.fromEntries(connectors)
}
