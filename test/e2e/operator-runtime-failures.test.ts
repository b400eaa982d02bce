import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { describeOn, real } from '../env/real.ts'
import { installCrds } from '../support/crds.ts'
import { startFaultyProxy } from '../support/faulty-proxy.ts'
import type { ProxyBehavior } from '../support/faulty-proxy-server.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { logOf, startOperatorFor } from '../support/operator-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { createTestNamespace, WAIT } from '../support/test-namespace.ts'
import { until } from '../support/until.ts'
import { startUp } from '../support/up.ts'

const kubernetes = await real('kubernetes')
const DATAGEN = { 'kafka.topic': 'generated', quickstart: 'orders', 'value.converter': 'StringConverter', rate: '1' }
/** How long a resource is edited continuously. 60,000 in the long form. */
const EDITED_MS = Number(process.env['WEIR_EDITED_MS'] ?? 5_000)
/** How long the runtimes are unavailable: several probes and polls. 180,000 in the long form. */
const UNAVAILABLE_MS = Number(process.env['WEIR_AWAY_MS'] ?? 35_000)
/**
 * The first requests of ten resources, then for each runtime a probe every 15 s and a poll every 30 s; twice as many are
 * allowed.
 */
const REQUESTS_WHILE_UNAVAILABLE_MAX = 100 + (2 * 2 * 6 * UNAVAILABLE_MS) / 60_000
/** Requests of failing reconciles before the conditions are checked: the backoff allows no more in that time. */
const REQUESTS_MAX = 400

describeOn([kubernetes], 'the operator with failing runtimes', () => {
  let api: KubeApi

  beforeAll(async () => {
    api = kubeApi(kubernetes.address)
    await installCrds(api)
  })

  const FAULTS: readonly ProxyBehavior[] = [
    'closes the connection',
    'returns status 500',
    'responds after 30 s',
    'returns HTML',
    'returns unexpected JSON',
  ]

  it.each(FAULTS)('reports a runtime that %s, and continues when it responds again', async (how) => {
    const { registry, worker, place, subjects, connectors } = await begin()
    for (const runtime of [registry, worker]) runtime.behave(how)
    await place.apply('Subject', 'late', { schema: '"int"' })
    await place.apply('Connector', 'late', { class: 'Datagen', config: DATAGEN })
    await place.condition('subjects', 'late', 'Ready', 'Unknown/RegistryUnreachable')
    await place.condition('connectors', 'late', 'Ready', 'Unknown/WorkerUnreachable')
    expect(registry.asked() + worker.asked()).toBeLessThan(REQUESTS_MAX)
    for (const runtime of [registry, worker]) runtime.behave('well')
    await place.condition('subjects', 'late', 'Ready', 'True/Succeeded')
    await place.condition('connectors', 'late', 'Ready', 'True/Succeeded')
    expect(await subjects.versions('late')).toEqual([1])
    expect((await connectors.list())['late']?.status?.tasks).toHaveLength(1)
  })

  it('does not delay other resources while a runtime does not respond', async () => {
    const { worker, registry, place } = await begin()
    const all = Array.from({ length: 20 }, (_, at) => `each-${at}`)
    worker.behave('does not respond')
    for (const name of all) await place.apply('Connector', name, { class: 'Datagen', config: DATAGEN })
    await until('the worker to be asked', WAIT, () => worker.asked() > 0)
    for (const name of all) await place.apply('Subject', name, { schema: '"int"' })
    for (const name of all) await place.condition('subjects', name, 'Ready', 'True/Succeeded')
    expect(registry.asked()).toBeGreaterThan(all.length)
    worker.behave('well')
    for (const name of all) await place.condition('connectors', name, 'Ready', 'True/Succeeded')
  })

  it('sends few requests to runtimes that are unavailable for long, and has all resources Ready soon after they respond again', async () => {
    const { registry, worker, place, subjects, connectors } = await begin()
    const all = Array.from({ length: 5 }, (_, at) => `unavailable-${at}`)
    for (const runtime of [registry, worker]) runtime.behave('closes the connection')
    for (const name of all) await place.apply('Subject', name, { schema: '"int"' })
    for (const name of all) await place.apply('Connector', name, { class: 'Datagen', config: DATAGEN })
    await sleep(UNAVAILABLE_MS)
    expect(registry.asked() + worker.asked()).toBeLessThan(REQUESTS_WHILE_UNAVAILABLE_MAX)
    for (const name of all) await place.condition('subjects', name, 'Ready', 'Unknown/RegistryUnreachable')
    for (const runtime of [registry, worker]) runtime.behave('well')
    for (const name of all) await place.condition('subjects', name, 'Ready', 'True/Succeeded')
    for (const name of all) await place.condition('connectors', name, 'Ready', 'True/Succeeded')
    expect((await subjects.subjects()).toSorted()).toEqual(all)
    expect(Object.keys(await connectors.list()).toSorted()).toEqual(all)
  })

  it.each<ProxyBehavior>(['returns status 500', 'returns HTML', 'returns unexpected JSON'])(
    'stops leading while the API server ends its watches and %s, and continues afterwards',
    async (how) => {
      const { kube, operator, place, subjects } = await begin()
      const all = Array.from({ length: 5 }, (_, at) => `cut-${at}`)
      for (const name of all) {
        await place.apply('Subject', name, { schema: '"int"' })
        kube.cut()
        await place.condition('subjects', name, 'Ready', 'True/Succeeded')
      }
      kube.behave(how)
      kube.cut()
      await until('it to give up the lead', WAIT, () => logOf(operator).includes('"stopped leading"'))
      await place.apply('Subject', 'unseen', { schema: '"int"' })
      expect(await subjects.subjects()).not.toContain('unseen')
      kube.behave('well')
      await place.condition('subjects', 'unseen', 'Ready', 'True/Succeeded')
      for (const name of [...all, 'unseen']) expect(await subjects.versions(name)).toEqual([1])
    },
  )

  it('handles names that need escaping in paths, and a schema of the maximum length', async () => {
    const { place, subjects, connectors } = await begin()
    const subject = 'ä/b %25 :c?#'
    const largest = schemaOf(512 * 1024)
    await place.apply('Subject', 'odd', { subject, schema: largest })
    await place.apply('Connector', 'odd', { name: '100%:ü?#c', class: 'Datagen', config: DATAGEN })
    await place.condition('subjects', 'odd', 'Ready', 'True/Succeeded')
    await place.condition('connectors', 'odd', 'Ready', 'True/Succeeded')
    expect((await subjects.latest(subject)).schema).toBe(largest)
    const refused = await place.tryApply('Subject', 'larger', { schema: schemaOf(1024 * 1024) })
    expect([refused.status, refused.body['message']]).toEqual([422, expect.stringContaining('spec.schema: Too long')])
    expect(Object.keys(await connectors.list())).toEqual(['100%:ü?#c'])
  })

  it('reconciles a continuously edited resource, and writes nothing after the last edit', async () => {
    const { place, worker, connectors } = await begin()
    const endMs = performance.now() + EDITED_MS
    let edits = 0
    while (performance.now() < endMs) {
      edits += 1
      await place.apply('Connector', 'restless', { class: 'Datagen', config: { ...DATAGEN, rate: String(edits) } })
    }
    const wanted = async () => (await connectors.list())['restless']?.info?.config['rate'] === String(edits)
    await until('the last edit', WAIT, wanted)
    await place.condition('connectors', 'restless', 'Ready', 'True/Succeeded')
    // Each edit costs a read, a validation and a write; the limit is twice that.
    expect(worker.asked()).toBeLessThan(20 + 6 * edits)
    worker.behave('well')
    await place.apply('Connector', 'other', { class: 'Datagen', config: DATAGEN })
    await place.condition('connectors', 'other', 'Ready', 'True/Succeeded')
    expect(worker.asked()).toBeLessThan(60)
  })

  /** Starts an operator that reaches its runtimes and the API server through faulty proxies. */
  async function begin() {
    const directory = temporaryDirectory()
    const { registryUrl, workerUrl } = await startUp({
      manifests: temporaryDirectory(),
      log: ['--data', `${directory}/data`],
      directory,
    })
    const { url, ca, kubeconfig } = kubernetes.address
    const [registry, worker, kube] = [
      await startFaultyProxy({ url: registryUrl }),
      await startFaultyProxy({ url: workerUrl }),
      await startFaultyProxy({ url, ca }),
    ]
    const address = { ...kubernetes.address, kubeconfig: join(directory, 'kubeconfig') }
    const cluster = { server: kube.url, 'insecure-skip-tls-verify': true }
    const known = JSON.parse(readFileSync(kubeconfig, 'utf8')) as { clusters: readonly object[] }
    const clusters = known.clusters.map((one) => ({ ...one, cluster }))
    writeFileSync(address.kubeconfig, JSON.stringify({ ...known, clusters }), { mode: 0o600 })
    const place = await createTestNamespace(api)
    const runtimes = { registryUrl: registry.url, workerUrl: worker.url }
    const operator = await startOperatorFor(runtimes, address, place.namespace)
    const subjects = createRegistryClient({ url: registryUrl })
    return { registry, worker, kube, operator, place, subjects, connectors: createWorkerClient({ url: workerUrl }) }
  }
})

/** A record schema with `length` characters. */
function schemaOf(length: number): string {
  const schema = (doc: string) => JSON.stringify({ type: 'record', name: 'Large', doc, fields: [] })
  return schema('x'.repeat(length - schema('').length))
}
