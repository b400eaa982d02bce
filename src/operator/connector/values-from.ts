import { createHash } from 'node:crypto'
import type { ClusterReader } from '../cluster/cluster.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import type { Resource } from '../resources/resource.ts'
import type { WorkerRuntimeConfig } from '../runtimes.ts'

/** The values that a Connector takes from ConfigMaps and Secrets. */
export type ResolvedValues = {
  readonly config: Readonly<Record<string, string>>
  /** Descriptions of what is referenced and does not exist. */
  readonly missing: readonly string[]
  /** Values that are sent to the worker in clear text, by configuration key. */
  readonly inline: Readonly<Record<string, { readonly value: string; readonly version: string }>>
  /**
   * SHA-256 of the versions of the Secrets that the worker reads; absent: there are none, or Secrets are not watched.
   */
  readonly inputsHash?: string
}

type From = NonNullable<Resource<'Connector'>['spec']['valuesFrom']>[number]
type SecretRef = NonNullable<From['secretKeyRef']>

export async function resolveValues(
  { spec, metadata: { namespace } }: Resource<'Connector'>,
  cluster: ClusterReader,
  { secretPlaceholder, allowsInlineSecrets, name: worker }: WorkerRuntimeConfig,
): Promise<ResolvedValues> {
  const config: Record<string, string> = {}
  const inline: Record<string, { value: string; version: string }> = {}
  const missing = new Set<string>()
  const versions = new Map<string, string>()

  const fromConfigMap = async (key: string, ref: SecretRef) => {
    const value = (await cluster.configMap(namespace, ref.name))?.get(ref.key)
    if (value === undefined) missing.add(`key ${ref.key} of ConfigMap ${ref.name}`)
    else config[key] = value
  }
  const fromOperator = async (key: string, ref: SecretRef) => {
    if (!allowsInlineSecrets) {
      const message = `the value of ${key} would be sent to worker ${worker} in clear text, but allowInlineSecrets is false in the operator's configuration: use resolve: Worker`
      throw new TerminalError('NotAllowed', message)
    }
    const secret = await cluster.secret(namespace, ref.name)
    const value = secret?.data.get(ref.key)
    if (secret === undefined || value === undefined) missing.add(`key ${ref.key} of Secret ${ref.name}`)
    else {
      config[key] = value
      inline[key] = { value, version: secret.version }
    }
  }
  /** Sends a placeholder, which the worker resolves. The operator does not read the value. */
  const fromWorker = (key: string, ref: SecretRef, onChange: From['onChange']) => {
    config[key] = filled(secretPlaceholder, { namespace, ...ref })
    const version = cluster.secretVersion(namespace, ref.name)
    if (version === '') missing.add(`Secret ${ref.name}`)
    else if (version !== undefined && onChange === 'Restart') versions.set(ref.name, version)
  }

  for (const { key, secretKeyRef, configMapKeyRef, resolve, onChange } of spec.valuesFrom ?? []) {
    if (configMapKeyRef !== undefined) await fromConfigMap(key, configMapKeyRef)
    else if (secretKeyRef === undefined) continue
    else if (resolve === 'Operator') await fromOperator(key, secretKeyRef)
    else fromWorker(key, secretKeyRef, onChange)
  }
  return {
    config,
    missing: [...missing],
    inline,
    ...(versions.size > 0 && { inputsHash: hashEntries(Object.fromEntries(versions)) }),
  }
}

/** SHA-256, independent of the order of the keys. */
export function hashEntries(entries: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex')
}

function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{(namespace|name|key)\}/g, (_, field: string) => values[field] ?? '')
}
