import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { readClientConfig } from '../../src/broker/kafka/client-config.ts'
import type { KafkaApi } from '../../src/broker/kafka/kafka-api.ts'
import { KafkaCluster } from '../../src/broker/kafka/kafka-cluster.ts'
import { createConnector } from '../../src/broker/kafka/kafka-connection.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { followStrimziKafka } from '../../src/cli/strimzi/follow-strimzi-kafka.ts'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { systemClock } from '../../src/common/clock.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { type Kafka, startKafka } from '../env/kafka.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, real } from '../env/real.ts'
import { responds, runWeir, setArgs, startWeir } from '../support/cli.ts'
import { helmAt } from '../support/helm.ts'
import { brokerTls, keyPair, pem, saslListener, scramUser } from '../support/kafka-security.ts'
import { type KubeApi, kubeApi } from '../support/kube-api.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

const kafkaPart = await real('kafka')
const kubernetes = await real('kubernetes')
const helm = await real('helm')
const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const GROUP = '/apis/kafka.strimzi.io/v1beta2'

describeOn([kafkaPart, kubernetes, helm], 'a Kafka of Strimzi', () => {
  let kafka: Kafka
  let api: KubeApi
  const namespace = `strimzi-${process.pid}`
  const secrets = `/api/v1/namespaces/${namespace}/secrets`

  beforeAll(async () => {
    api = kubeApi(kubernetes.address)
    kafka = await startKafka({
      listeners: { TLS: 'SSL', SCRAM: 'SASL_SSL' },
      properties: {
        ...brokerTls(),
        ...saslListener('scram', 'SCRAM-SHA-512'),
        'listener.name.tls.ssl.client.auth': 'required',
      },
      format: scramUser('shop', 'first'),
    })
    for (const kind of ['Kafka', 'KafkaUser']) await installDefinition(api, kind)
    await api.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    await declareEstate()
  })
  afterAll(() => kafka?.stop())

  async function create(path: string, object: object): Promise<void> {
    const { status, body } = await api.send('POST', path, object)
    expect(status, JSON.stringify(body)).toBe(201)
  }

  /** What Strimzi's operators write for a cluster with two listeners, and for a user of each. */
  async function declareEstate(): Promise<void> {
    const listeners = [
      { name: 'tls', type: 'internal', tls: true, authentication: { type: 'tls' } },
      { name: 'scram', type: 'internal', tls: true, authentication: { type: 'scram-sha-512' } },
    ]
    const status = listeners.map(({ name }) => ({ name, bootstrapServers: kafka.listeners[name.toUpperCase()] }))
    const path = (plural: string) => `${GROUP}/namespaces/${namespace}/${plural}`
    const object = (kind: string, name: string, rest: object) => ({
      ...{ apiVersion: 'kafka.strimzi.io/v1beta2', kind, metadata: { name } },
      ...rest,
    })
    await create(
      path('kafkas'),
      object('Kafka', 'estate', { spec: { kafka: { listeners } }, status: { listeners: status } }),
    )
    const user = (name: string, type: string, username: string) =>
      object('KafkaUser', name, { spec: { authentication: { type } }, status: { username, secret: name } })
    await create(path('kafkausers'), user('shop', 'scram-sha-512', 'shop'))
    await create(path('kafkausers'), user('orders', 'tls', 'CN=orders'))
    const { key, certificate } = keyPair('client.pem')
    await create(secrets, { metadata: { name: 'estate-cluster-ca-cert' }, stringData: { 'ca.crt': pem('ca.pem') } })
    await create(secrets, { metadata: { name: 'shop' }, stringData: { password: 'first' } })
    await create(secrets, { metadata: { name: 'orders' }, stringData: { 'user.key': key, 'user.crt': certificate } })
  }

  const patchSecret = (name: string, stringData: object) =>
    api.send('PATCH', `${secrets}/${name}`, { stringData }, 'application/merge-patch+json')

  async function follow(user: string) {
    const name = (of: string) => ({ namespace, name: of })
    const reference = { kafka: name('estate'), user: name(user), listener: undefined }
    const { kubeconfig } = kubernetes.address
    const followed = await followStrimziKafka(reference, { kubeconfig, logger: silentLogger() })
    onTestFinished(() => followed.close())
    return followed
  }

  async function clusterIdFor({ bootstrap, settings }: Awaited<ReturnType<typeof follow>>): Promise<string> {
    const config = { ...settings, 'bootstrap.servers': bootstrap }
    const broker = await openBroker({ kind: 'kafka', config }, { logger: silentLogger() })
    return broker.clusterId().finally(() => broker.close())
  }

  it('is used with the address, the certificates and the credentials in its resources', async () => {
    const users = await Promise.all(['shop', 'orders'].map(follow))
    expect(users.map(({ bootstrap }) => bootstrap)).toEqual([kafka.listeners['SCRAM'], kafka.listeners['TLS']])
    const [first, second] = await Promise.all(users.map(clusterIdFor))
    expect(first).toBe(second)
  })

  it('is used with the new password and certificates after Strimzi has renewed them', async () => {
    const shop = await follow('shop')
    const orders = await follow('orders')
    await changePassword('shop', 'second')
    await expect(clusterIdFor(shop)).rejects.toThrow('Authentication failed')
    await patchSecret('shop', { password: 'second' })
    const passwordFile = shop.settings['sasl.password.location']!
    await until('the new password', WAIT, () => readFileSync(passwordFile, 'utf8') === 'second')
    await clusterIdFor(shop)

    await patchSecret('orders', { 'user.key': 'none', 'user.crt': 'none' })
    const keystore = orders.settings['ssl.keystore.location']!
    await until('the new certificate', WAIT, () => readFileSync(keystore, 'utf8') === 'none\nnone\n')
    const { key, certificate } = keyPair('client.pem')
    await patchSecret('orders', { 'user.key': key, 'user.crt': certificate })
    await until('the certificate', WAIT, () => readFileSync(keystore, 'utf8').includes(certificate.trim()))
    await clusterIdFor(orders)
    await patchSecret('estate-cluster-ca-cert', { 'ca-old.crt': pem('server.pem') })
    const truststore = orders.settings['ssl.truststore.location']!
    await until('both certificates', WAIT, () => readFileSync(truststore, 'utf8').includes(pem('server.pem').trim()))
    await clusterIdFor(orders)
    await orders.close()
    expect(() => readFileSync(keystore)).toThrow('ENOENT')
  })

  it('is that of a registry with the rights that the chart grants', async () => {
    const kubeconfig = await accountOfChart()
    const url = `http://127.0.0.1:${await freePort()}`
    const settings = { listeners: url, 'brokerstore.topic.replication.factor': '1' }
    const reference = ['--kafka-ref', `${namespace}/estate`, '--kafka-user-ref', `${namespace}/orders`]
    const env = { KUBECONFIG: kubeconfig }
    const registry = await startWeir(
      ['registry', ...reference, ...setArgs(settings)],
      () => responds(`${url}/readyz`),
      {
        env,
      },
    )
    onTestFinished(() => registry.kill())
    expect(await createRegistryClient({ url }).register('orders', { schema: '"int"' })).toMatchObject({ id: 1 })
    expect(readFileSync(registry.logFile, 'utf8')).toContain('connecting to a Kafka of Strimzi')
    expect(await registry.terminate(60_000)).toBe(0)
  })

  it('ends the start with the reason if a resource does not exist, or options contradict each other', async () => {
    const start = async (...args: readonly string[]) => {
      process.env['KUBECONFIG'] = kubernetes.address.kubeconfig
      onTestFinished(() => void delete process.env['KUBECONFIG'])
      const { code, stderr } = await runWeir(temporaryDirectory(), 'registry', ...args)
      return `${code} ${stderr}`
    }
    expect(await start('--kafka-ref', `${namespace}/other`)).toContain(
      `1 weir: Kafka ${namespace}/other does not exist`,
    )
    const withData = await start('--kafka-ref', 'estate', '--data', 'd')
    expect(withData).toContain('2 weir: --kafka-ref excludes --bootstrap and --data')
    expect(await start('--kafka-user-ref', 'shop')).toContain(
      '2 weir: --kafka-user-ref and --kafka-listener need --kafka-ref',
    )
    expect(await start('--kafka-ref', 'a/b/c')).toContain('2 weir: --kafka-ref a/b/c: expected NAMESPACE/NAME')
  })

  /** A kubeconfig of a service account with the rights that the chart grants to the pods of the registry. */
  async function accountOfChart(): Promise<string> {
    const values = {
      kafka: { kafkaRef: { name: 'estate', namespace }, userRef: { name: 'orders' } },
      runtimes: 'Separate',
    }
    const rendered = await helmAt(helm.address.file).render(values)
    const granted = rendered.filter(({ metadata: { name } }) => name.startsWith('weir-registry-kafka'))
    expect(granted.map(({ kind }) => kind).toSorted()).toEqual(['Role', 'Role', 'RoleBinding', 'RoleBinding'])
    for (const object of granted) {
      // The release has a namespace of its own, which other tests may use.
      const own = JSON.parse(JSON.stringify(object).replaceAll('"namespace":"weir"', `"namespace":"${namespace}"`))
      const plural = `${object.kind.toLowerCase()}s`
      await create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${plural}`, own)
    }
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
    await create(accounts, { metadata: { name: 'weir-registry' } })
    const { body } = await api.send('POST', `${accounts}/weir-registry/token`, { spec: { expirationSeconds: 3_600 } })
    const { token } = body['status'] as { readonly token: string }
    const file = join(temporaryDirectory(), 'kubeconfig')
    const admin = JSON.parse(readFileSync(kubernetes.address.kubeconfig, 'utf8'))
    writeFileSync(file, JSON.stringify({ ...admin, users: [{ name: 'admin', user: { token } }] }), { mode: 0o600 })
    return file
  }

  async function changePassword(user: string, password: string): Promise<void> {
    const { config } = readClientConfig({ 'bootstrap.servers': kafka.bootstrap })
    const connector = createConnector(config, { logger: silentLogger(), tls: undefined })
    const cluster = new KafkaCluster({ connector, config, clock: systemClock })
    try {
      await cluster.onController(alterScramApi, { user, password })
    } finally {
      connector.close()
      await cluster.close()
    }
  }
})

const SCRAM_SHA_512 = 2
const ITERATIONS = 4_096

/** AlterUserScramCredentials, which Strimzi's user operator uses. */
const alterScramApi: KafkaApi<{ readonly user: string; readonly password: string }, void> = {
  key: 51,
  name: 'AlterUserScramCredentials',
  version: 0,
  isFlexible: true,
  rights: () => ({ cluster: 'ALTER' }),
  write: (writer, { user, password }) => {
    const salt = randomBytes(16)
    const salted = pbkdf2Sync(password, salt, ITERATIONS, 64, 'sha512')
    const bytes = (data: Buffer) => writer.compactArray([...new Int8Array(data)], (byte) => writer.int8(byte))
    writer.compactArray([], () => undefined)
    writer.compactArray([user], () => {
      writer.compactString(user).int8(SCRAM_SHA_512).int32(ITERATIONS)
      bytes(salt)
      bytes(salted)
      writer.noTags()
    })
    writer.noTags()
  },
  read: (reader, errors) => {
    reader.int32()
    reader.compactArray(() => {
      reader.compactString()
      errors.check(reader.int16(), 'changing a password')
      reader.compactString()
      reader.skipTags()
    })
  },
}

/** The definition of one of Strimzi's kinds, which accepts any fields. */
async function installDefinition(api: KubeApi, kind: string): Promise<void> {
  const plural = `${kind.toLowerCase()}s`
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  await api.send('POST', CRDS, {
    metadata: { name: `${plural}.kafka.strimzi.io` },
    spec: {
      ...{ group: 'kafka.strimzi.io', scope: 'Namespaced', names: { kind, plural, singular: kind.toLowerCase() } },
      versions: [{ name: 'v1beta2', served: true, storage: true, schema: { openAPIV3Schema: anything } }],
    },
  })
  await until(plural, WAIT, async () => (await api.send('GET', `${GROUP}/${plural}`)).status === 200)
}
