import type { ResourceRow } from '../../src/operator/main.ts'

/** A connector that is Ready and runs one task. */
export function readyConnectorRow(name: string): ResourceRow {
  const resource = { kind: 'Connector', spec: {}, metadata: { name }, status: { state: 'RUNNING' } }
  return {
    ...{ kind: 'Connector', namespace: 'default', name, about: 'Datagen', ready: 'True', reason: 'Succeeded' },
    ...{ message: 'running, 1 task', isStalled: false, tasks: '1/1', since: new Date(0).toISOString() },
    resource: resource as unknown as NonNullable<ResourceRow['resource']>,
  }
}
