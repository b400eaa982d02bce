import {
  APPLY_PATCH,
  ignoreNotFound,
  type KubernetesApi,
  MERGE_PATCH,
} from '../../clients/kubernetes/kubernetes-api.ts'
import { PeriodicTask } from '../../common/periodic-task.ts'
import { parseListener } from '../../http/listener-address.ts'
import { startHttpServer, type TlsReloadableServer } from '../../http/server.ts'
import { admissionRoutes } from '../routes/admission-routes.ts'
import { type AdmissionDependencies, decideDeletion, decideWrite } from './admission-decision.ts'
import { type CertificateSource, certificatesFromFiles, certificatesFromSecret } from './certificate-source.ts'
import type { ServingCertificate } from './issue-certificate.ts'
import { type WebhookAddress, webhookConfiguration } from './webhook-configuration.ts'

export type WebhookOptions = {
  /** `https://HOST:PORT`. */
  readonly listener: string
  /** The Service of the webhook; absent: the API server calls the listener directly. */
  readonly service?: { readonly namespace: string; readonly name: string }
  /**
   * Directory with `tls.crt`, `tls.key` and `ca.crt`; absent: the operator issues certificates and keeps them in a
   * Secret.
   */
  readonly certificates?: string
}

export type WebhookDependencies = AdmissionDependencies & {
  readonly api: Pick<KubernetesApi, 'send' | 'close'>
  /** The namespace that the operator runs in. */
  readonly operatorNamespace: string
  /** Namespaces whose objects are checked; empty: all. */
  readonly namespaces: readonly string[]
}

const MANAGER = 'weir-operator-webhook'
const SECRET = 'weir-webhook'
const SERVICE_PORT = 443
const BODY_BYTES_MAX = 8 * 1024 * 1024
/** How often the certificate and the registration are checked. */
const REFRESH_MS = 60_000
const RETRY_MS = 5_000
/** How long the registration may be missing before the operator creates it although it runs behind a Service. */
const CREATION_MS_MAX = 30_000

/**
 * Serves the webhook and maintains its certificate and its registration with the API server. The controllers do not
 * depend on it.
 */
export function startWebhook(options: WebhookOptions, dependencies: WebhookDependencies): { stop(): Promise<void> } {
  const { logger, clock, api } = dependencies
  const refreshing = new PeriodicTask(clock)
  const webhook = new Webhook(options, dependencies)
  refreshing.start(() =>
    webhook.refresh().then(
      () => REFRESH_MS,
      (error: unknown) => {
        logger.warn({ err: error, waitMs: RETRY_MS }, 'cannot set up the webhook: retrying')
        return RETRY_MS
      },
    ),
  )
  return {
    async stop() {
      await refreshing.stop()
      await webhook.stop()
      api.close()
    },
  }
}

class Webhook {
  readonly #options: WebhookOptions
  readonly #dependencies: WebhookDependencies
  readonly #certificates: CertificateSource
  #server: TlsReloadableServer | undefined
  #served: ServingCertificate | undefined
  readonly #startMs: number
  #isRegistered = false

  constructor(options: WebhookOptions, dependencies: WebhookDependencies) {
    this.#options = options
    this.#dependencies = dependencies
    const { certificates, listener, service } = options
    const { clock, api, operatorNamespace } = dependencies
    this.#startMs = clock.monotonicMs()
    const namespace = service?.namespace ?? operatorNamespace
    const names = service === undefined ? [parseListener(listener).host] : [`${service.name}.${service.namespace}.svc`]
    this.#certificates =
      certificates === undefined
        ? certificatesFromSecret({ api, namespace, name: SECRET, subjectAltNames: names, clock })
        : certificatesFromFiles(certificates)
  }

  async refresh(): Promise<void> {
    const pair = await this.#certificates()
    this.#server ??= await this.#start(pair)
    // The registration with the new CA is written before the new certificate is served.
    await this.#register(this.#server, pair.ca)
    if (pair.cert !== this.#served?.cert) this.#server.setCertificates(pair)
    this.#served = pair
  }

  async stop(): Promise<void> {
    await this.#server?.stop()
  }

  async #start({ cert, key }: ServingCertificate): Promise<TlsReloadableServer> {
    const { listener } = this.#options
    const { logger } = this.#dependencies
    const server = await startHttpServer({
      listeners: [listener],
      tls: { cert, key },
      logger,
      routes: admissionRoutes({
        store: (proposed) => decideWrite(proposed, this.#dependencies),
        delete: (deletion) => decideDeletion(deletion, this.#dependencies),
      }),
      consumes: ['application/json'],
      produces: ['application/json'],
      limits: { bodyBytesMax: BODY_BYTES_MAX },
    })
    logger.info({ url: server.urls[0] }, 'serving the webhook')
    return server
  }

  /** Server-side apply: an unchanged configuration writes nothing. */
  async #register(server: TlsReloadableServer, ca: string | undefined): Promise<void> {
    const { service } = this.#options
    const { api, operatorNamespace, namespaces } = this.#dependencies
    const address: WebhookAddress =
      service === undefined ? { url: server.urls[0] ?? '' } : { service: { ...service, port: SERVICE_PORT } }
    const name = `weir-${service?.namespace ?? operatorNamespace}`
    const path = `/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/${encodeURIComponent(name)}`
    if (service !== undefined && !this.#isRegistered) await this.#leaveCreationToHelm(name, path)
    await api.send({
      method: 'PATCH',
      path,
      query: { fieldManager: MANAGER, force: true },
      contentType: APPLY_PATCH,
      body: webhookConfiguration({ name, address, ca, namespaces }),
    })
    this.#isRegistered = true
  }

  /**
   * Helm creates the registration last, after the Deployment of this operator, and an installation fails if it exists
   * already. Throws while it is missing; without Helm, the operator creates it after 30 s.
   */
  async #leaveCreationToHelm(name: string, path: string): Promise<void> {
    const { api, clock } = this.#dependencies
    // A patch without content needs no further permission.
    const found = await ignoreNotFound(api.send({ method: 'PATCH', path, contentType: MERGE_PATCH, body: {} }))
    if (found !== undefined || clock.monotonicMs() - this.#startMs >= CREATION_MS_MAX) return
    const waitS = CREATION_MS_MAX / 1_000
    throw new Error(
      `there is no ValidatingWebhookConfiguration '${name}' yet: Helm creates it, or this operator after ${waitS} s`,
    )
  }
}
