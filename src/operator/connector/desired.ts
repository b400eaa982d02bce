import { createHash } from 'node:crypto'
import type { ConnectorConfig } from '../../clients/worker.ts'
import type { ClusterView } from '../cluster/cluster.ts'
import { Stalled } from '../controller/trouble.ts'
import { conditionOf } from '../resources/condition.ts'
import { type Resource, resourceKey } from '../resources/resource.ts'
import { connectorName } from '../resources/terms.ts'
import { type OffsetsToSet, offsetsToSet } from './offsets.ts'

/** Marks a connector as kept by this resource, inside its configuration. */
export const OWNER_KEY = 'weir.owner'

/** What a Connector resource asks of the worker. */
export type Desired = {
  readonly name: string
  /** Everything the worker is sent, the owner's mark apart. */
  readonly config: ConnectorConfig
  readonly configHash: string
  /** `instance/namespace/name`. */
  readonly owner: string
  /** ConfigMaps and keys that are asked for and not there, in words. */
  readonly missing: readonly string[]
  /** Subjects that have to be Ready before the connector is first made, and are not. */
  readonly waitsFor: readonly string[]
  /** By the operation that is still to be carried out, if there is one. */
  readonly offsetsToSet: OffsetsToSet
}

/** Later sources win: ConfigMaps in order, then `config`, then single values, then what has a field of its own. */
export async function desiredOf(
  resource: Resource<'Connector'>,
  cluster: ClusterView,
  { instance, secretPlaceholder }: { readonly instance: string; readonly secretPlaceholder: string },
): Promise<Desired> {
  const { spec, metadata } = resource
  const missing: string[] = []
  const config: Record<string, string> = {
    ...(await configFrom(resource, cluster, missing)),
    ...spec.config,
    ...(await valuesFrom(resource, cluster, missing, secretPlaceholder)),
    name: connectorName(resource),
    'connector.class': spec.class,
    'tasks.max': String(spec.tasksMax),
    ...(spec.version === undefined ? {} : { 'connector.plugin.version': spec.version }),
  }
  return {
    name: connectorName(resource),
    config,
    configHash: hashOf(config),
    owner: `${instance}/${metadata.namespace}/${metadata.name}`,
    missing,
    waitsFor: unreadySubjects(resource, cluster),
    offsetsToSet: await offsetsToSet(resource, cluster),
  }
}

async function configFrom(resource: Resource<'Connector'>, cluster: ClusterView, missing: string[]) {
  const { namespace } = resource.metadata
  const config: Record<string, string> = {}
  for (const { configMapRef, prefix = '' } of resource.spec.configFrom ?? []) {
    const data = await cluster.configMap(namespace, configMapRef.name)
    if (data === undefined && !configMapRef.optional) missing.push(`ConfigMap ${configMapRef.name}`)
    for (const [key, value] of Object.entries(data ?? {})) config[`${prefix}${key}`] = value
  }
  return config
}

async function valuesFrom(
  resource: Resource<'Connector'>,
  cluster: ClusterView,
  missing: string[],
  secretPlaceholder: string,
) {
  const { namespace } = resource.metadata
  const config: Record<string, string> = {}
  for (const { key, secretKeyRef, configMapKeyRef, resolve } of resource.spec.valuesFrom ?? []) {
    if (secretKeyRef !== undefined) {
      if (resolve === 'Operator') {
        const message = `the value of ${key} would be sent in clear: the operator's configuration does not allow inline secrets; use resolve: Worker`
        throw new Stalled('NotAllowed', message)
      }
      // The worker puts the value in; the operator never reads it.
      config[key] = filled(secretPlaceholder, { namespace, ...secretKeyRef })
    } else if (configMapKeyRef !== undefined) {
      const value = (await cluster.configMap(namespace, configMapKeyRef.name))?.[configMapKeyRef.key]
      if (value === undefined) missing.push(`key ${configMapKeyRef.key} of ConfigMap ${configMapKeyRef.name}`)
      else config[key] = value
    }
  }
  return config
}

function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(namespace|name|key)\}/g, (_, field: string) => values[field] ?? '')
}

function unreadySubjects({ spec, metadata }: Resource<'Connector'>, cluster: ClusterView): readonly string[] {
  return (spec.subjectRefs ?? []).flatMap(({ name }) => {
    const subject = cluster.get(resourceKey('Subject', metadata.namespace, name))
    if (subject === undefined) return [`Subject ${name}, which does not exist`]
    const { conditions, observedGeneration } = subject.status
    const current = observedGeneration === subject.metadata.generation
    return current && conditionOf(conditions, 'Ready')?.status === 'True' ? [] : [`Subject ${name}`]
  })
}

/** Of everything but the owner's mark. */
export function hashOf(config: ConnectorConfig): string {
  const { [OWNER_KEY]: _, ...own } = config
  const sorted = Object.entries(own).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex')
}
