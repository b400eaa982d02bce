import type { KubernetesApi } from '../../clients/kubernetes/kubernetes-api.ts'
import { type ConfigProviderInstance, defineProvider, field, z } from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../shipped-version.ts'

const config = z.object({
  kubeconfig: field
    .text({
      doc: 'Path of the kubeconfig file. Default: the file that kubectl uses, or the service account of the pod.',
    })
    .optional(),
  namespace: field
    .text({
      doc: 'Namespace for references without a namespace. Default: the namespace of the pod or of the kubeconfig.',
    })
    .optional(),
})

type Settings = z.infer<typeof config>
type Held = { readonly data?: Readonly<Record<string, string>>; readonly binaryData?: Readonly<Record<string, string>> }
type Kind = {
  readonly noun: string
  readonly plural: string
  /** Returns the values as text. */
  readonly valuesIn: (held: Held) => Readonly<Record<string, string>>
}

const SECRET: Kind = { noun: 'Secret', plural: 'secrets', valuesIn: ({ data }) => decoded(data) }
const CONFIG_MAP: Kind = {
  noun: 'ConfigMap',
  plural: 'configmaps',
  valuesIn: ({ data, binaryData }) => ({ ...decoded(binaryData), ...data }),
}

const NOTES = `
The path is \`NAMESPACE/NAME\`, or \`NAME\` in the default namespace. The credentials need the verb \`get\` on the object. The object is read
when a connector or task starts and, if \`worker.config.reload.ms\` is set, at that interval.
`

export const kubernetesSecretProvider = defineProvider({
  class: 'KubernetesSecretConfigProvider',
  aliases: ['io.strimzi.kafka.KubernetesSecretConfigProvider'],
  version: SHIPPED_VERSION,
  summary: 'Provides values from Kubernetes Secrets: `${NAME:NAMESPACE/SECRET:KEY}`.',
  notes: NOTES,
  config,
  create: (settings) => reading(SECRET, settings),
})

export const kubernetesConfigMapProvider = defineProvider({
  class: 'KubernetesConfigMapConfigProvider',
  aliases: ['io.strimzi.kafka.KubernetesConfigMapConfigProvider'],
  version: SHIPPED_VERSION,
  summary: 'Provides values from Kubernetes ConfigMaps: `${NAME:NAMESPACE/CONFIGMAP:KEY}`.',
  notes: NOTES,
  config,
  create: (settings) => reading(CONFIG_MAP, settings),
})

function reading({ noun, plural, valuesIn }: Kind, settings: Settings): ConfigProviderInstance {
  let opened: Promise<KubernetesApi> | undefined
  return {
    async read(path, keys) {
      opened ??= openApi(settings).catch((error: unknown) => {
        // The next reading tries again: a file that is missing now may be mounted later.
        opened = undefined
        throw error
      })
      const api = await opened
      const [, namespace = settings.namespace ?? api.namespace, name = ''] = /^(?:([^/]+)\/)?([^/]+)$/.exec(path) ?? []
      if (name === '') throw new Error(`'${path}' is not a valid ${noun} reference: expected NAMESPACE/NAME or NAME`)
      const place = `${encodeURIComponent(namespace)}/${plural}/${encodeURIComponent(name)}`
      const values = valuesIn(await api.send<Held>({ method: 'GET', path: `/api/v1/namespaces/${place}` }))
      return Object.fromEntries(keys.filter((key) => Object.hasOwn(values, key)).map((key) => [key, values[key]!]))
    },
  }
}

/** Loads the Kubernetes client on first use: it takes half a second to load, and much memory. */
async function openApi({ kubeconfig }: Settings): Promise<KubernetesApi> {
  const { openKubernetesApi } = await import('../../clients/kubernetes/kubernetes-api.ts')
  return openKubernetesApi(kubeconfig)
}

function decoded(data: Held['data'] = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]))
}
