import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { SecretMasker } from '../../src/common/secrets/secret-masker.ts'
import { ConfigResolver, createProviders } from '../../src/worker/configuration/config-resolver.ts'
import { readAll } from '../contract/broker-support.ts'
import { describeOn, real } from '../env/real.ts'
import { kubeApi } from '../support/kube-api.ts'
import { localPluginHost } from '../support/plugin-host.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const kafka = await real('kafka')
const kubernetes = await real('kubernetes')

describeOn([kafka], 'the values of config providers', () => {
  it('are passed to tasks only, not to topics, REST responses or logs, and restart tasks when they change', async () => {
    const broker = await openBroker(
      { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } },
      { logger: silentLogger() },
    )
    onTestFinished(() => broker.close())
    const group = `providers-${process.pid}`
    const folder = temporaryDirectory()
    const secrets = join(folder, 'secrets.properties')
    const [first, second] = [join(folder, 'first-hideaway.txt'), join(folder, 'second-hideaway.txt')]
    const nowhere = join(folder, 'no-hideaway', 'file.txt')
    writeFileSync(secrets, `file=${first}\nnowhere=${nowhere}\nlimit=hideaway\n`)
    const worker = await startWorkerProcess({
      log: ['--bootstrap', kafka.address.bootstrap],
      groupId: group,
      settings: {
        'config.providers': 'file',
        'config.providers.file.class': 'org.apache.kafka.common.config.provider.FileConfigProvider',
        'worker.config.reload.ms': '100',
        'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
        'offset.flush.interval.ms': '100',
      },
    })
    onTestFinished(() => worker.kill())
    const client = createWorkerClient({ url: worker.url })
    const topic = `${group}-lines`
    await broker.topics.create({ name: topic, partitions: 1, replicationFactor: 1 })
    const producer = await broker.producer()
    const write = (line: string) => producer.send([{ topic, key: null, value: Buffer.from(line) }])

    const sink = (file: string) => ({ 'connector.class': 'FileStreamSink', topics: topic, file })
    await client.create('sink', sink(`\${file:${secrets}:file}`))
    await write('one')
    await until('the first line', WAIT, () => linesOf(first).includes('one'))
    writeFileSync(secrets, readFileSync(secrets, 'utf8').replace(first, second))
    await until('another line in the other file', WAIT, async () => {
      await write('two')
      return linesOf(second).includes('two')
    })

    await client.create('lost', sink(`\${file:${secrets}:nowhere}`))
    const taskOf = async (name: string) => (await client.status(name).catch(() => undefined))?.tasks[0]
    await until('the failure', WAIT, async () => (await taskOf('lost'))?.state === 'FAILED')
    const wrong = await client.validate('FileStreamSink', {
      ...sink(`\${file:${secrets}:file}`),
      name: 'wrong',
      'tasks.max': `\${file:${secrets}:limit}`,
    })
    expect(wrong.configs.find(({ value }) => value.name === 'tasks.max')?.value).toMatchObject({
      value: `\${file:${secrets}:limit}`,
      errors: expect.arrayContaining(['Invalid value [hidden] for configuration tasks.max: Not a number of type INT']),
    })

    const rest = await Promise.all(
      ['?expand=info&expand=status', '/sink/tasks', '/sink/config', '/lost/status'].map(async (path) =>
        (await fetch(`${worker.url}/connectors${path}`)).text(),
      ),
    )
    const topics = await Promise.all(
      ['configs', 'offsets', 'status'].map(async (kind) => readAll(broker, `${group}-${kind}`)),
    )
    const told = [
      ...rest,
      JSON.stringify(wrong),
      ...topics.flat().map(({ key, value }) => `${key}${value}`),
      readFileSync(worker.logFile, 'utf8'),
    ].join('\n')
    expect(told).toContain(`\${file:${secrets}:file}`)
    expect(told).toContain('[hidden]')
    expect(told).not.toContain('hideaway')
  })
})

describeOn([kubernetes], 'the Kubernetes config providers', () => {
  it('provide values of Secrets and ConfigMaps, and detect their changes', async () => {
    const { kubeconfig } = kubernetes.address
    const api = kubeApi(kubernetes.address)
    const namespace = `providers-${process.pid}`
    const place = `/api/v1/namespaces/${namespace}`
    await api.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    await api.send('POST', `${place}/secrets`, { metadata: { name: 'login' }, stringData: { password: 'pässword' } })
    await api.send('POST', `${place}/configmaps`, { metadata: { name: 'places' }, data: { host: 'db.example' } })
    const providers = await createProviders(
      {
        'config.providers': 'secrets,maps',
        'config.providers.secrets.class': 'io.strimzi.kafka.KubernetesSecretConfigProvider',
        'config.providers.secrets.param.kubeconfig': kubeconfig,
        'config.providers.maps.class': 'KubernetesConfigMapConfigProvider',
        'config.providers.maps.param.kubeconfig': kubeconfig,
        'config.providers.maps.param.namespace': namespace,
      },
      localPluginHost(),
    )
    const resolver = new ConfigResolver(providers, new SecretMasker())
    const written = { url: '${maps:places:host}', login: `me:\${secrets:${namespace}/login:password}` }
    const { config } = await resolver.resolve(written, { connector: 'c' })
    expect(config).toEqual({ url: 'db.example', login: 'me:pässword' })
    expect(await resolver.connectorsWithChangedValues(['c'], () => expect.unreachable())).toEqual([])
    const change = { data: { password: Buffer.from('another').toString('base64') } }
    await api.send('PATCH', `${place}/secrets/login`, change, 'application/merge-patch+json')
    expect(await resolver.connectorsWithChangedValues(['c'], () => expect.unreachable())).toEqual(['c'])
    await expect(resolver.resolve({ a: `\${secrets:${namespace}/gone:key}` })).rejects.toThrow(
      `cannot resolve \${secrets:${namespace}/gone:…}: secrets "gone" not found`,
    )
  })
})

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
}
