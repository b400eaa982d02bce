import type { WorkerClient } from '../../clients/worker-client.ts'
import { secretValuesIn } from '../../common/secrets/secret-keys.ts'
import { matchesWildcard } from '../../regex/wildcard.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import { selectOwner } from '../controller/select-owner.ts'
import { type Resource, resourceKeyOf } from '../resources/resource.ts'
import type { Runtimes, WorkerRuntimeConfig } from '../runtimes.ts'
import { findClaimants, resolveConnectorName } from './connector-name.ts'
import { type DesiredConnector, resolveDesiredConnector } from './desired-connector.ts'

/** The desired state of a connector that the resource may manage, and its worker. */
export type ClaimedConnector = {
  readonly worker: WorkerClient
  readonly runtimeConfig: WorkerRuntimeConfig
  readonly desired: DesiredConnector
  /** The secret values of the configuration. */
  readonly secretValues: readonly string[]
  /** Whether no other resource claims the connector. */
  readonly isSoleClaimant: boolean
}

export type ClaimContext = {
  readonly cluster: ClusterReader
  readonly runtimes: Pick<Runtimes, 'worker'>
  /** Part of the ownership marker. */
  readonly instance: string
  /** Called with the secret values of the configuration before anything is thrown that may contain them. */
  readonly onSecretValues: (values: readonly string[]) => void
}

/**
 * Resolves the worker, the name and the configuration of a connector. Throws `TerminalError` when the resource may not
 * manage the connector of this name.
 */
export async function claimConnector(
  resource: Resource<'Connector'>,
  { cluster, runtimes, instance, onSecretValues }: ClaimContext,
): Promise<ClaimedConnector> {
  const { client: worker, runtimeConfig } = runtimes.worker(resource)
  const name = resolveConnectorName(runtimeConfig, resource)
  assertNotProtected(name, runtimeConfig)
  assertNotRenamed(resource, name, runtimeConfig)
  const desired = await resolveDesiredConnector(resource, cluster, { instance, runtimeConfig })
  const inlineValues = Object.values(desired.inline).map(({ value }) => value)
  const secretValues = [...secretValuesIn(desired.config), ...inlineValues]
  onSecretValues(secretValues)
  const claimants = findClaimants(runtimeConfig, name, cluster)
  assertOwner(resource, claimants, name)
  return { worker, runtimeConfig, desired, secretValues, isSoleClaimant: claimants.length === 1 }
}

function assertNotProtected(name: string, { name: worker, protectedNames }: WorkerRuntimeConfig): void {
  const pattern = protectedNames.find((each) => matchesWildcard(each, name))
  if (pattern === undefined) return
  throw new TerminalError(
    'ProtectedName',
    `worker ${worker} protects connectors named ${pattern}: no resource may manage them`,
  )
}

/** Rejects a changed name: the connector under the previous name would continue to run beside the new one. */
function assertNotRenamed(
  { status }: Resource<'Connector'>,
  name: string,
  { name: worker }: WorkerRuntimeConfig,
): void {
  const { configHash, connectorName: previousName = name } = status
  if (configHash === undefined || previousName === name) return
  const message = `worker ${worker}: connector ${previousName} would be renamed to ${name}: restore nameTemplate and allowExplicitNames, or delete this resource and declare it again`
  throw new TerminalError('ClusterConfigInvalid', message)
}

/** Of several resources for one connector, one owns it and the others report `Conflict`. */
function assertOwner(resource: Resource<'Connector'>, claimants: readonly Resource<'Connector'>[], name: string): void {
  const owner = selectOwner(claimants, ({ status }) => status.configHash !== undefined)
  if (owner === undefined || resourceKeyOf(owner) === resourceKeyOf(resource)) return
  const { namespace, name: ownerName } = owner.metadata
  throw new TerminalError(
    'Conflict',
    `connector ${name} is managed by Connector ${namespace}/${ownerName}: change spec.name of one of them`,
  )
}
