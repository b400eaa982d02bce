import { expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../../../src/clients/kubernetes/kubernetes-api.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { startWebhook, type WebhookOptions } from '../../../src/operator/admission/webhook.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakeCluster } from '../../support/fake-cluster.ts'
import { FakeSecrets } from '../../support/fake-secrets.ts'
import { tlsOutcome } from '../../support/tls-outcome.ts'
import { until } from '../../support/until.ts'

const WAIT = { everyMs: 5, timeoutMs: 30_000 }
const LOOK_MS = 60_000
const AGAIN_MS = 5_000

type Applied = {
  readonly metadata: { readonly name: string }
  readonly webhooks: readonly {
    readonly clientConfig: { readonly url?: string; readonly service?: object; readonly caBundle: string }
    readonly namespaceSelector: object
  }[]
}

function serve(options: Partial<WebhookOptions> = {}, failure?: Error, hasRegistration = true) {
  const [api, clock] = [new FakeSecrets(), new FakeClock(Date.now())]
  api.failure = failure
  api.hasOthers = hasRegistration
  const dryRunners = () => {
    throw new Error('nobody asks')
  }
  const webhook = startWebhook(
    { listener: 'https://127.0.0.1:0', ...options },
    {
      api,
      clock,
      logger: silentLogger(),
      cluster: new FakeCluster(),
      operatorNamespace: 'shop',
      namespaces: ['shop'],
      dryRunners,
    },
  )
  onTestFinished(() => webhook.stop())
  /** The last of `count` registrations that the API server received. */
  const applied = async (count: number) => {
    await until('the registration', WAIT, () => api.applied.length >= count)
    const { metadata, webhooks } = api.applied[count - 1] as Applied
    const { clientConfig, namespaceSelector } = webhooks[0]!
    return {
      name: metadata.name,
      ...clientConfig,
      namespaceSelector,
      ca: String(Buffer.from(clientConfig.caBundle, 'base64')),
    }
  }
  return { api, clock, applied }
}

const portOf = (url = '') => Number(new URL(url).port)

it('registers its address, its CA and its rules with the API server', { tags: ['slow'] }, async () => {
  const { applied } = serve()
  const { name, url, ca, namespaceSelector } = await applied(1)
  expect([name, url]).toEqual(['weir-shop', expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/admission$/)])
  expect(namespaceSelector).toMatchObject({ matchExpressions: [{ operator: 'In', values: ['shop'] }] })
  expect(await tlsOutcome(portOf(url), '127.0.0.1', ca)).toBe('trusted')
})

it('serves a renewed certificate without a restart, after it has registered the new CA', async () => {
  const { api, clock, applied } = serve()
  const first = await applied(1)
  api.stored = undefined
  await clock.advance(LOOK_MS)
  const second = await applied(2)
  expect(second.url).toBe(first.url)
  const meet = (ca: string) => tlsOutcome(portOf(second.url), '127.0.0.1', ca)
  await until('the new certificate', WAIT, async () => (await meet(second.ca)) === 'trusted')
  expect(await meet(first.ca)).not.toBe('trusted')
})

it('registers a Service, and issues a certificate for its name', async () => {
  const { api, applied } = serve({ service: { namespace: 'kafka', name: 'weir' } })
  const { name, service, ca } = await applied(1)
  expect([name, service]).toEqual(['weir-kafka', { namespace: 'kafka', name: 'weir', port: 443, path: '/admission' }])
  expect(ca).toContain('BEGIN CERTIFICATE')
  expect(api.stored?.metadata).toMatchObject({ namespace: 'kafka', name: 'weir-webhook' })
})

it('registers a Service when Helm has created the registration', async () => {
  const { api, clock, applied } = serve({ service: { namespace: 'kafka', name: 'weir' } }, undefined, false)
  await until('the certificate', WAIT, () => api.stored !== undefined)
  await clock.advance(AGAIN_MS)
  expect(api.applied).toEqual([])
  api.hasOthers = true
  await clock.advance(AGAIN_MS)
  expect((await applied(1)).name).toBe('weir-kafka')
})

it('registers a Service after 30 s when nobody has created the registration', async () => {
  const { api, clock, applied } = serve({ service: { namespace: 'kafka', name: 'weir' } }, undefined, false)
  await until('the certificate', WAIT, () => api.stored !== undefined)
  for (let waitedMs = 0; waitedMs < 25_000; waitedMs += AGAIN_MS) await clock.advance(AGAIN_MS)
  expect(api.applied).toEqual([])
  await clock.advance(AGAIN_MS)
  await clock.advance(AGAIN_MS)
  expect((await applied(1)).name).toBe('weir-kafka')
})

it('retries when it may not write the Secret of its certificate', async () => {
  const { api, clock, applied } = serve({}, new ApiError(403, 'Forbidden', 'no Secrets for you'))
  await clock.advance(AGAIN_MS)
  expect(api.applied).toEqual([])
  api.failure = undefined
  await clock.advance(AGAIN_MS)
  expect((await applied(1)).url).toBeDefined()
})
