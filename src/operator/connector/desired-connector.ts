import { type ConnectorProperties, OWNER_KEY } from '../../clients/worker-client.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { findCondition } from '../resources/condition.ts'
import { type Resource, resourceKey } from '../resources/resource.ts'
import type { WorkerRuntimeConfig } from '../runtimes.ts'
import { resolveConnectorName } from './connector-name.ts'
import { type ResolvedOffsets, resolveOffsets } from './offsets-operation.ts'
import { hashEntries, type ResolvedValues, resolveValues } from './values-from.ts'

/** The desired state of a connector. */
export type DesiredConnector = {
  readonly name: string
  /** The configuration without the ownership marker. */
  readonly config: ConnectorProperties
  readonly configHash: string
  /** `instance/namespace/name`. */
  readonly owner: string
  /** Whether the configuration is sent with the ownership marker. */
  readonly hasOwnerMarker: boolean
  /** Descriptions of the ConfigMaps, Secrets and keys that are referenced and do not exist. */
  readonly missing: readonly string[]
  /** Descriptions of the Subjects that are not Ready; they must be Ready before the connector is created. */
  readonly waitsFor: readonly string[]
  /** What the pending offsets operation sets. */
  readonly offsetsToSet: ResolvedOffsets
} & Pick<ResolvedValues, 'inline' | 'inputsHash'>

/**
 * Merges the sources of the configuration. Later ones win: ConfigMaps in order, `config`, `valuesFrom`, then fields
 * such as `class`.
 */
export async function resolveDesiredConnector(
  resource: Resource<'Connector'>,
  cluster: ClusterReader,
  { instance, runtimeConfig }: { readonly instance: string; readonly runtimeConfig: WorkerRuntimeConfig },
): Promise<DesiredConnector> {
  const { spec, metadata } = resource
  const name = resolveConnectorName(runtimeConfig, resource)
  const missing: string[] = []
  const base = await configFrom(resource, cluster, missing)
  const { inline, inputsHash, ...values } = await resolveValues(resource, cluster, runtimeConfig)
  const config: Record<string, string> = {
    ...base,
    ...spec.config,
    ...values.config,
    name,
    'connector.class': spec.class,
    'tasks.max': String(spec.tasksMax),
    ...(spec.version === undefined ? {} : { 'connector.plugin.version': spec.version }),
  }
  // Inline values enter the hash by the version of their Secret: the hash of a short secret could be reversed.
  const versions = Object.entries(inline).map(([key, { version }]) => [key, `version ${version}`])
  return {
    name,
    config,
    configHash: hashConfig({ ...config, ...Object.fromEntries(versions) }),
    owner: `${instance}/${metadata.namespace}/${metadata.name}`,
    hasOwnerMarker: runtimeConfig.writesOwnerMarker,
    missing: [...missing, ...values.missing],
    waitsFor: unreadySubjects(resource, cluster),
    offsetsToSet: await resolveOffsets(resource, cluster),
    inline,
    ...(inputsHash !== undefined && { inputsHash }),
  }
}

async function configFrom(resource: Resource<'Connector'>, cluster: ClusterReader, missing: string[]) {
  const { namespace } = resource.metadata
  const config: Record<string, string> = {}
  for (const { configMapRef, prefix = '' } of resource.spec.configFrom ?? []) {
    const data = await cluster.configMap(namespace, configMapRef.name)
    if (data === undefined && !configMapRef.optional) missing.push(`ConfigMap ${configMapRef.name}`)
    for (const [key, value] of data ?? []) config[`${prefix}${key}`] = value
  }
  return config
}

function unreadySubjects({ spec, metadata }: Resource<'Connector'>, cluster: ClusterReader): readonly string[] {
  return (spec.subjectRefs ?? []).flatMap(({ name }) => {
    const subject = cluster.get(resourceKey('Subject', metadata.namespace, name))
    if (subject === undefined) return [`Subject ${name}, which does not exist`]
    const { conditions, observedGeneration } = subject.status
    const current = observedGeneration === subject.metadata.generation
    return current && findCondition(conditions, 'Ready')?.status === 'True' ? [] : [`Subject ${name}`]
  })
}

/** SHA-256 of a configuration without its ownership marker. */
export function hashConfig(config: ConnectorProperties): string {
  const { [OWNER_KEY]: _, ...own } = config
  return hashEntries(own)
}
