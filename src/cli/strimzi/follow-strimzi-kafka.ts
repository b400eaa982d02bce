import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  ApiError,
  ignoreNotFound,
  type KubernetesApi,
  openKubernetesApi,
} from '../../clients/kubernetes/kubernetes-api.ts'
import { type KubernetesObject, Reflector } from '../../clients/kubernetes/reflector.ts'
import { systemClock } from '../../common/clock.ts'
import { UserError } from '../../common/errors.ts'
import type { Logger } from '../../common/logging/logger.ts'
import {
  chooseListener,
  clientFiles,
  parseKafka,
  parseUser,
  type SecretKeys,
  type StrimziKafka,
  settingsOf,
} from './strimzi-objects.ts'

export type ObjectName = { readonly namespace: string | undefined; readonly name: string }

/** Strimzi's resources that describe a Kafka cluster and the user of a client. */
export type KafkaReference = {
  readonly kafka: ObjectName
  readonly user: ObjectName | undefined
  readonly listener: string | undefined
}

export type FollowedKafka = {
  readonly bootstrap: string
  /** Settings of Kafka's clients. They name files, whose content follows the Secrets. */
  readonly settings: Readonly<Record<string, string>>
  close(): Promise<void>
}

const GROUP = 'kafka.strimzi.io'

/**
 * Reads how a client connects to a Kafka of Strimzi, and keeps certificates and password in files of a private directory, which are
 * written again when Strimzi renews them. Clients read changed files for each new connection, and the password for each login. Rejects if
 * something does not exist yet.
 */
export async function followStrimziKafka(
  { kafka: kafkaName, user: userName, listener }: KafkaReference,
  { kubeconfig, logger }: { readonly kubeconfig?: string | undefined; readonly logger: Logger },
): Promise<FollowedKafka> {
  const api = openKubernetesApi(kubeconfig)
  const directory = mkdtempSync(join(tmpdir(), 'weir-kafka-'))
  const following = new Following(api, logger)
  const close = async () => {
    await following.stop()
    api.close()
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    chmodSync(directory, 0o700)
    const version = await servedVersion(api)
    const place = ({ namespace = api.namespace }: ObjectName) => encodeURIComponent(namespace)
    const collection = (plural: string, of: ObjectName) => `/apis/${GROUP}/${version}/namespaces/${place(of)}/${plural}`
    const secrets = (of: ObjectName) => `/api/v1/namespaces/${place(of)}/secrets`
    const kafkas = collection('kafkas', kafkaName)
    const user =
      userName && parseUser(await read(api, collection('kafkausers', userName), 'KafkaUser', userName), userName.name)
    const first = parseKafka(await read(api, kafkas, 'Kafka', kafkaName), kafkaName.name)
    const client = chooseListener(first, user, listener)

    const held: { kafka: StrimziKafka; ca: SecretKeys; user: SecretKeys } = { kafka: first, ca: {}, user: {} }
    const written = new Map<string, string>()
    const write = () => {
      for (const [name, content] of clientFiles(client, held)) {
        if (written.get(name) === content) continue
        replaceFile(join(directory, name), content)
        if (written.has(name)) logger.info({ file: name }, 'the credentials of Kafka were renewed')
        written.set(name, content)
      }
    }
    if (client.hasTls) {
      await following.start(kafkas, kafkaName.name, (object) => {
        held.kafka = parseKafka(object, kafkaName.name)
      })
      await following.start(secrets(kafkaName), `${kafkaName.name}-cluster-ca-cert`, (object) => {
        held.ca = dataOf(object)
      })
    }
    if (userName !== undefined && client.login !== undefined) {
      await following.start(secrets(userName), user?.status.secret ?? userName.name, (object) => {
        held.user = dataOf(object)
      })
    }
    write()
    following.onChange = write
    logger.info(
      { kafka: kafkaName.name, user: userName?.name, listener: client.listener, bootstrap: client.bootstrap },
      'connecting to a Kafka of Strimzi',
    )
    const settings = settingsOf(client, user?.status.username ?? userName?.name ?? '', (name) => join(directory, name))
    return { bootstrap: client.bootstrap, settings, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Watches single objects. What was read of an object that is deleted stays in use. */
class Following {
  readonly #api: KubernetesApi
  readonly #logger: Logger
  readonly #reflectors: Reflector<KubernetesObject>[] = []
  onChange: () => void = () => undefined

  constructor(api: KubernetesApi, logger: Logger) {
    this.#api = api
    this.#logger = logger
  }

  /** Resolves when `use` was called with the object. Rejects if it does not exist. */
  async start(path: string, name: string, use: (object: KubernetesObject) => void): Promise<void> {
    let exists = false
    const put = (object: KubernetesObject) => {
      exists = true
      try {
        use(object)
        this.onChange()
      } catch (error) {
        this.#logger.error({ err: error, path, name }, 'a changed object is invalid: what it had before stays in use')
      }
    }
    const store = {
      replace: (objects: readonly KubernetesObject[]) => {
        for (const object of objects) put(object)
      },
      put,
      remove: () => this.#logger.warn({ path, name }, 'an object was deleted: what it had stays in use'),
    }
    const [api, clock, logger] = [this.#api, systemClock, this.#logger]
    const reflector = new Reflector({ api, path, fieldSelector: `metadata.name=${name}`, clock, logger, store })
    this.#reflectors.push(reflector)
    await reflector.start()
    if (!exists) throw missing(path.slice(path.lastIndexOf('/') + 1), name, path)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.stop()))
  }
}

/** The version that the API server prefers: `v1`, or `v1beta2` of older Strimzi. */
async function servedVersion(api: KubernetesApi): Promise<string> {
  type ApiGroup = { readonly preferredVersion: { readonly version: string } }
  const group = await ignoreNotFound(api.send<ApiGroup>({ method: 'GET', path: `/apis/${GROUP}` }))
  if (group !== undefined) return group.preferredVersion.version
  throw new UserError('invalid_kafka_reference', `the cluster has no resources of ${GROUP}: Strimzi is not installed`)
}

async function read(api: KubernetesApi, collection: string, kind: string, { name }: ObjectName): Promise<unknown> {
  try {
    return await api.send({ method: 'GET', path: `${collection}/${encodeURIComponent(name)}` })
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) throw missing(kind, name, collection)
    throw error
  }
}

function missing(kind: string, name: string, path: string): UserError {
  const [, namespace] = /\/namespaces\/([^/]+)\//.exec(path) ?? []
  return new UserError('invalid_kafka_reference', `${kind} ${namespace}/${name} does not exist`)
}

function dataOf(object: KubernetesObject): SecretKeys {
  const { data = {} } = object as { readonly data?: Readonly<Record<string, string>> }
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]))
}

/** Readers see the previous or the new content, never a part of it. */
function replaceFile(path: string, content: string): void {
  const next = `${path}.next`
  writeFileSync(next, content, { mode: 0o600 })
  renameSync(next, path)
}
