import { appendFileSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { API_GROUP, DEPRECATED_VERSIONS, STORED_VERSION } from '../../src/common/resource-api.ts'
import { startKubernetes } from '../env/kubernetes.ts'
import { extractOlder, OLDER_COMMIT, olderProgram } from '../env/older-program.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, real } from '../env/real.ts'
import { type Definition, definitions } from '../support/alpha-definitions.ts'
import { type Program, responds, startWeir } from '../support/cli.ts'
import { kubeApi } from '../support/kube-api.ts'
import { operatorAccount } from '../support/operator-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

const kubernetes = await real('kubernetes')

const NAMESPACE = 'shop'
const [ALPHA] = DEPRECATED_VERSIONS
const API = `/apis/${API_GROUP}/${ALPHA}/namespaces/${NAMESPACE}`
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const APPLY = 'application/apply-patch+yaml'
const WAIT = { everyMs: 100, timeoutMs: 120_000 }

/** A resource as both versions report it. */
type Stored = {
  readonly metadata: { readonly uid: string; readonly generation: number }
  readonly spec: object
  readonly status?: Readonly<Record<string, unknown>> & { readonly conditions?: readonly Condition[] }
}
type Condition = { readonly type: string; readonly status: string }

describeOn([kubernetes], 'an operator with its definitions, data directory and configuration file', () => {
  /**
   * A clone without the older commit runs this version in both roles, on its own definitions; `crd-versions.test.ts` installs
   * definitions with `v1alpha1` alone in any clone.
   */
  it('is upgraded and goes back with nothing lost, nothing registered again and no write to the runtimes', {
    timeout: 300_000,
  }, async () => {
    const control = await startKubernetes()
    onTestFinished(() => control.stop())
    const api = kubeApi(control)
    const directory = temporaryDirectory()
    const older = await olderProgram()
    console.info(older === undefined ? 'a restart: this clone does not have the older commit' : `from ${OLDER_COMMIT}`)
    const send = async (...call: Parameters<typeof api.send>) => {
      const { status, body } = await api.send(...call)
      expect(status, JSON.stringify(body)).toBeLessThan(300)
      return body
    }
    const install = async (all: readonly Definition[]) => {
      for (const definition of all)
        await send(
          'PATCH',
          `${DEFINITIONS}/${definition.metadata.name}?fieldManager=helm&force=true`,
          definition,
          APPLY,
        )
      const { name: version } = all[0]!.spec.versions[0]!
      await until(`${version} to be served`, WAIT, async () => {
        const paths = all.map(({ spec }) => `/apis/${API_GROUP}/${version}/${spec.names.plural}`)
        const answers = await Promise.all(paths.map((path) => api.send('GET', path)))
        return answers.every(({ status }) => status === 200)
      })
    }
    await install(older === undefined ? definitions() : await olderDefinitions())
    await send('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } })

    const [registryPort, workerPort] = [await freePort(), await freePort()]
    const urls = { registry: `http://127.0.0.1:${registryPort}`, worker: `http://127.0.0.1:${workerPort}` }
    writeFileSync(
      join(directory, 'weir.yaml'),
      JSON.stringify({
        ...{ apiVersion: 'config.weir.dev/v1alpha1', kind: 'OperatorConfig' },
        workers: [{ name: 'default', url: urls.worker, observeInterval: '2s' }],
        registries: [{ name: 'default', url: urls.registry, observeInterval: '2s' }],
      }),
    )
    const account = await operatorAccount(control, NAMESPACE)
    let running: Program | undefined
    const start = async (program: string | undefined) => {
      const args = [
        ...['--kubeconfig', account, '--namespace', NAMESPACE, '--lease-namespace', NAMESPACE],
        ...['--data', 'data', '--config', 'weir.yaml', '--monitoring', 'http://127.0.0.1:0'],
        ...['--registry-port', String(registryPort), '--worker-port', String(workerPort)],
      ]
      running = await startWeir(['operator', ...args], () => responds(`${urls.worker}/connectors`), {
        directory,
        program,
      })
    }
    onTestFinished(() => running?.kill())
    const apply = (kind: string, name: string, spec: object, version: string = ALPHA) =>
      send(
        'PATCH',
        `/apis/${API_GROUP}/${version}/namespaces/${NAMESPACE}/${kind.toLowerCase()}s/${name}?fieldManager=person`,
        { apiVersion: `${API_GROUP}/${version}`, kind, metadata: { name }, spec },
        APPLY,
      )
    const stored = async () => {
      const kinds = ['connectors', 'subjects', 'registrymodes']
      const lists = await Promise.all(kinds.map((plural) => send('GET', `${API}/${plural}`)))
      return lists.flatMap(({ items }) => items as readonly Stored[])
    }
    const allReady = (since: number) =>
      until('all resources to be Ready', WAIT, async () =>
        (await stored()).every(({ status }) => {
          const ready = status?.conditions?.find(({ type }) => type === 'Ready')
          return ready?.status === 'True' && since <= Number(status?.['observedGeneration'])
        }),
      ).catch(async (error: Error) => {
        throw new Error(`${error.message}: ${JSON.stringify((await stored()).map(({ status }) => status?.conditions))}`)
      })

    /** What nobody may have changed: identities, specs, and what the operator reports about its writes. */
    const identities = async () =>
      (await stored()).map(({ metadata: { uid, generation }, spec, status = {} }) => {
        const { id, version, lastRegisteredTime, configHash, lastAppliedTime, previousMode, appliedMode } = status
        const writes = { id, version, lastRegisteredTime, configHash, lastAppliedTime, previousMode, appliedMode }
        return { uid, generation, spec, ...writes }
      })
    const registry = createRegistryClient({ url: urls.registry })
    const worker = createWorkerClient({ url: urls.worker })
    const runtimes = async () => ({
      subjects: await registry.subjects(),
      versions: await registry.versions('orders-value'),
      latest: await registry.latest('orders-value'),
      mode: await registry.mode('archive'),
      configs: Object.fromEntries(Object.entries(await worker.list()).map(([name, { info }]) => [name, info?.config])),
    })
    const [lines, copy] = [join(directory, 'lines.txt'), join(directory, 'copy.txt')]
    let written = 0
    /** Lines that are added arrive once each, after all earlier ones. */
    const copied = async (count: number) => {
      for (let at = 0; at < count; at++) appendFileSync(lines, `${written++}\n`)
      const expected = Array.from({ length: written }, (_, at) => `${at}\n`).join('')
      await until('the lines', WAIT, () => readFileSync(copy, 'utf8').length >= expected.length)
      expect(readFileSync(copy, 'utf8')).toBe(expected)
    }

    await start(older)
    writeFileSync(lines, '')
    writeFileSync(copy, '')
    const text = { 'value.converter': 'org.apache.kafka.connect.storage.StringConverter' }
    await apply('Subject', 'orders-value', { schema: '"int"', compatibility: 'FULL' })
    await apply('RegistryMode', 'archive', { scope: { type: 'Subject', subject: 'archive' }, mode: 'READONLY' })
    await apply('Connector', 'in', { class: 'FileStreamSource', config: { file: lines, topic: 'lines', ...text } })
    await apply('Connector', 'out', { class: 'FileStreamSink', config: { file: copy, topics: 'lines', ...text } })
    await allReady(1)
    await copied(500)
    const before = { resources: await identities(), runtimes: await runtimes() }

    // The source continues to read what is appended, and the sink what the source has written, while the program changes.
    const replace = async (program: string | undefined) => {
      appendFileSync(lines, `${written++}\n`)
      await running!.stop()
      appendFileSync(lines, `${written++}\n`)
      await start(program)
      await copied(500)
      await allReady(1)
    }
    await install(definitions())
    await replace(undefined)
    expect({ resources: await identities(), runtimes: await runtimes() }).toEqual(before)

    // What this version has written, in its own API version, is what the older one continues with.
    await apply('Subject', 'new-value', { schema: '"string"' }, STORED_VERSION)
    const config = { 'kafka.topic': 'idle', quickstart: 'orders' }
    await apply('Connector', 'idle', { class: 'Datagen', state: 'Stopped', config }, STORED_VERSION)
    await allReady(1)
    const upgraded = { resources: await identities(), runtimes: await runtimes() }
    await replace(older)
    expect({ resources: await identities(), runtimes: await runtimes() }).toEqual(upgraded)
    // No id is assigned twice.
    expect((await registry.register('another', { schema: '"long"' })).id).toBeGreaterThan(
      Math.max(...upgraded.resources.map(({ id }) => Number(id ?? 0))),
    )
    await replace(undefined)
    expect(await identities()).toEqual(upgraded.resources)
  })
})

async function olderDefinitions(): Promise<readonly Definition[]> {
  const checkout = join(temporaryDirectory(), 'older')
  expect(await extractOlder(checkout, 'crds')).toBe(true)
  return globSync('crds/*.yaml', { cwd: checkout }).map((file) => parse(readFileSync(join(checkout, file), 'utf8')))
}
