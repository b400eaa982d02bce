import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { KubernetesAddress } from '../env/kubernetes.ts'
import { partDirectory } from '../env/workspace.ts'
import { type KubeApi, kubeApi } from './kube-api.ts'
import type { Container } from './sandbox.ts'

/** The fields of a pod that the charts use. */
export type PodSpec = {
  readonly serviceAccountName: string
  readonly automountServiceAccountToken: boolean
  readonly securityContext: { readonly runAsUser: number }
  readonly initContainers?: readonly ContainerSpec[]
  readonly containers: readonly ContainerSpec[]
  readonly volumes: readonly Volume[]
}
type ContainerSpec = {
  readonly name: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly EnvVar[]
  readonly readinessProbe?: { readonly httpGet: { readonly path: string; readonly scheme: 'HTTP' | 'HTTPS' } }
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[]
}
type EnvVar = {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string }
    readonly secretKeyRef?: { readonly name: string; readonly key: string }
  }
}
type Items = readonly { readonly key: string; readonly path: string }[]
type Volume = {
  readonly name: string
  readonly emptyDir?: object
  readonly configMap?: { readonly name: string; readonly items?: Items }
  readonly secret?: { readonly secretName: string; readonly items?: Items }
}
type Held = Readonly<Record<string, string>>

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The part of a container that its image provides: the command, and the mounts with the program. */
export type Program = { readonly words: readonly string[]; readonly mounts: Container['mounts'] }

/**
 * Converts a pod spec to containers as a kubelet does: the init containers in order, then the main container, with
 * their Secrets, ConfigMaps and service account token read from the API server.
 */
export async function containersOf(
  spec: PodSpec,
  pod: { readonly name: string; readonly namespace: string; readonly hosts: readonly string[] },
  address: KubernetesAddress,
  programOf: (command: readonly string[] | undefined) => Promise<Program>,
): Promise<readonly Container[]> {
  if (spec.containers.length !== 1) throw new Error('expected one container beside those that run before')
  const api = kubeApi(address)
  const { pathname, port } = new URL(address.url)
  const space = `${pathname.replace(/\/$/, '')}/api/v1/namespaces/${pod.namespace}`
  const folders = new Map(
    await Promise.all(spec.volumes.map(async (volume) => [volume.name, await folderOf(volume, api, space)] as const)),
  )
  const account = spec.automountServiceAccountToken ? [await accountMount(spec, pod.namespace, api, address)] : []
  const containerOf = async (container: ContainerSpec): Promise<Container> => {
    const program = await programOf(container.command)
    const mounts = container.volumeMounts.map(({ name, mountPath, readOnly = false }) => {
      const folder = folders.get(name)
      if (folder === undefined) throw new Error(`there is no volume ${name}`)
      return { path: mountPath, folder, readOnly }
    })
    const given = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: port }
    const env: Record<string, string> = { PATH: dirname(process.execPath), ...given }
    const expanded = (value: string) => value.replaceAll(/\$\((\w+)\)/g, (whole, name: string) => env[name] ?? whole)
    for (const { name, value = '', valueFrom } of container.env ?? []) {
      env[name] = valueFrom === undefined ? expanded(value) : await lookedUp(valueFrom, pod.name, api, space)
    }
    return {
      name: `${pod.name}-${container.name}`,
      command: [...program.words, ...(container.args ?? [])].map(expanded),
      env,
      mounts: [...mounts, ...account, ...program.mounts],
      hosts: pod.hosts,
      user: spec.securityContext.runAsUser,
    }
  }
  return Promise.all([...(spec.initContainers ?? []), ...spec.containers].map(containerOf))
}

async function lookedUp(from: NonNullable<EnvVar['valueFrom']>, pod: string, api: KubeApi, space: string) {
  if (from.fieldRef?.fieldPath === 'metadata.name') return pod
  const { name, key } = from.secretKeyRef!
  const value = (await held(api, `${space}/secrets/${name}`))[key]
  if (value === undefined) throw new Error(`the Secret ${name} has no ${key}`)
  return Buffer.from(value, 'base64').toString()
}

async function folderOf(volume: Volume, api: KubeApi, space: string): Promise<string> {
  if (volume.emptyDir !== undefined) return partDirectory('volume')
  if (volume.configMap !== undefined) {
    const { name, items } = volume.configMap
    return written(chosen(await held(api, `${space}/configmaps/${name}`), items))
  }
  const { secretName, items } = volume.secret!
  const secret = await held(api, `${space}/secrets/${secretName}`)
  const texts = Object.entries(secret).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()])
  return written(chosen(Object.fromEntries(texts), items))
}

async function held(api: KubeApi, path: string): Promise<Held> {
  const { status, body } = await api.send('GET', path)
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`)
  return (body['data'] ?? {}) as Held
}

function chosen(all: Held, items: Items | undefined): Held {
  return items === undefined ? all : Object.fromEntries(items.map(({ key, path }) => [path, all[key] ?? '']))
}

async function accountMount(spec: PodSpec, namespace: string, api: KubeApi, { ca }: KubernetesAddress) {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${spec.serviceAccountName}/token`
  const { status, body } = await api.send('POST', path, { spec: { expirationSeconds: 3_600 } })
  if (status !== 201) throw new Error(`${path}: ${JSON.stringify(body)}`)
  const { token } = body['status'] as { readonly token: string }
  return { path: ACCOUNT, folder: written({ token, namespace, 'ca.crt': ca }), readOnly: true }
}

/** Writes a volume as a kubelet does: in a versioned folder behind the link `..data`, with a stable link per file. */
function written(files: Held): string {
  const folder = partDirectory('volume')
  const data = join(folder, '..2026_01_02')
  for (const [name, content] of Object.entries(files)) {
    const file = join(data, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  symlinkSync('..2026_01_02', join(folder, '..data'))
  const [...roots] = new Set(Object.keys(files).map((name) => name.split('/')[0]!))
  for (const name of roots) symlinkSync(join('..data', name), join(folder, name))
  return folder
}
