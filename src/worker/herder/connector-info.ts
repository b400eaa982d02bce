import type {
  ConnectorInfo,
  ConnectorStateInfo,
  ConnectorType,
  InstanceState,
  TaskStateInfo,
} from '../../clients/worker-client.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { findAnyConnector } from '../configuration/connector-plugin.ts'
import type { PluginCatalog } from '../plugin-host.ts'
import type { ConnectorState } from '../stores/config-state.ts'
import type { StoredStatus } from '../stores/status-codec.ts'
import type { StatusState } from '../stores/status-state.ts'

// Conversions to the responses of the REST API, with the member order of Kafka Connect.

export function toConnectorInfo({ name, config, tasks }: ConnectorState, plugins: PluginCatalog): ConnectorInfo {
  return {
    name,
    config,
    tasks: tasks.map((_, task) => ({ connector: name, task })),
    type: connectorTypeOf(config, plugins),
  }
}

/** Undefined while the connector has no status. */
export function toConnectorStatus(
  name: string,
  statuses: StatusState,
  type: ConnectorType,
): ConnectorStateInfo | undefined {
  const connector = statuses.connector(name)
  if (connector === undefined) return undefined
  return { name, connector: toState(connector), tasks: statuses.tasks(name).map(toTaskStatus), type }
}

export function toTaskStatus([id, status]: readonly [task: number, status: StoredStatus]): TaskStateInfo {
  return { id, ...toState(status) }
}

/** `unknown` if the connector class is not installed. */
export function connectorTypeOf(config: RawConfig | undefined, plugins: PluginCatalog): ConnectorType {
  return (config && findAnyConnector(plugins, config)?.kind) ?? 'unknown'
}

function toState({ state, worker_id, version, trace }: StoredStatus): InstanceState {
  return { state, worker_id, ...(version ? { version } : {}), ...(trace === null ? {} : { trace }) }
}
