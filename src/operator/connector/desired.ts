import { type ConnectorProperties, OWNER_KEY } from '../../clients/worker.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { findCondition } from '../resources/condition.ts'
import { type Resource, resourceKey } from '../resources/resource.ts'
import type { WorkerRuntimeConfig } from '../runtimes.ts'
import { resolveConnectorName } from './naming.ts'
import { type ResolvedOffsets, resolveOffsets } from './offsets.ts'
import { hashEntries, type ResolvedValues, resolveValues } from './values-from.ts'

/** What a Connector resource asks of the worker. */
export type DesiredConnector = {
  readonly name: string
  /** Everything the worker is sent, the owner's mark apart. */
  readonly config: ConnectorProperties
  readonly configHash: string
  /** `instance/namespace/name`. */
  readonly owner: string
  /** Whether the connector carries the owner's mark. */
  readonly hasOwnerMarker: boolean
  /** ConfigMaps and keys that are asked for and not there, in words. */
  readonly missing: readonly string[]
  /** Subjects that have to be Ready before the connector is first made, and are not. */
  readonly waitsFor: readonly string[]
  /** By the operation that is still to be carried out, if there is one. */
  readonly offsetsToSet: ResolvedOffsets
} & Pick<ResolvedValues, 'inline' | 'inputsHash'>

/** Later sources win: ConfigMaps in order, then `config`, then single values, then what has a field of its own. */
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
  // What is sent in clear is told by its version: a hash of a short secret would give it away.
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
    for (const [key, value] of Object.entries(data ?? {})) config[`${prefix}${key}`] = value
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

/** Of everything but the owner's mark. */
export function hashConfig(config: ConnectorProperties): string {
  const { [OWNER_KEY]: _, ...own } = config
  return hashEntries(own)
}
