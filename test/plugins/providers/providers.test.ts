import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { directoryProvider } from '../../../src/plugins/providers/directory.ts'
import { environmentProvider } from '../../../src/plugins/providers/environment.ts'
import { fileProvider } from '../../../src/plugins/providers/file.ts'
import { kubernetesConfigMapProvider, kubernetesSecretProvider } from '../../../src/plugins/providers/kubernetes.ts'
import { type ProviderUse, parseConfig, type RawConfig, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { json, scriptedApi } from '../../support/scripted-api.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const USE: ProviderUse = { files: UNRESTRICTED.files, isOwnVariable: () => false }
const files = (config: RawConfig = {}) => fileProvider.create(parseConfig(fileProvider.config, config), USE)
const directories = (config: RawConfig = {}) =>
  directoryProvider.create(parseConfig(directoryProvider.config, config), USE)
const environment = (config: RawConfig = {}) =>
  environmentProvider.create(parseConfig(environmentProvider.config, config), USE)

describe('FileConfigProvider', () => {
  it('returns existing keys, with the escapes of .properties files', async () => {
    const file = join(temporaryDirectory(), 'secrets.properties')
    writeFileSync(file, 'user = me\npassword: p\\u00e4ss=word\n')
    expect(await files().read(file, ['user', 'password', 'gone'])).toEqual({ user: 'me', password: 'päss=word' })
  })

  it('names a file that it cannot read in the error', async () => {
    await expect(files().read('/no/such/file', ['a'])).rejects.toThrow(
      'Could not read properties from file /no/such/file: ENOENT',
    )
  })

  it('reads UTF-8 as the provider of Kafka, and refuses other bytes instead of replacing them', async () => {
    const file = join(temporaryDirectory(), 'secrets.properties')
    writeFileSync(file, 'password=pä€ss')
    expect(await files().read(file, ['password'])).toEqual({ password: 'pä€ss' })
    writeFileSync(file, Buffer.from('password=päss', 'latin1'))
    await expect(files().read(file, ['password'])).rejects.toThrow(`Could not read properties from file ${file}: `)
  })

  it('returns nothing outside of allowed.paths', async () => {
    const folder = temporaryDirectory()
    const inside = join(folder, 'in')
    // As Kubernetes mounts a Secret.
    mkdirSync(join(inside, '..data'), { recursive: true })
    for (const name of ['in/a.properties', 'in/..data/a.properties', 'out.properties', 'inside.properties']) {
      writeFileSync(join(folder, name), 'k=v')
    }
    const { read } = files({ 'allowed.paths': `${inside}, /elsewhere` })
    for (const name of ['a.properties', '..data/a.properties'])
      expect(await read(join(inside, name), ['k'])).toEqual({ k: 'v' })
    expect(await read(join(inside, '../out.properties'), ['k'])).toEqual({})
    expect(await read(join(folder, 'inside.properties'), ['k'])).toEqual({})
    expect(await read('', ['k'])).toEqual({})
    expect(() => files({ 'allowed.paths': 'relative' })).toThrow('expected absolute paths')
  })
})

describe('DirectoryConfigProvider', () => {
  it('returns the contents of files in the directory only', async () => {
    const folder = temporaryDirectory()
    mkdirSync(join(folder, 'below'))
    writeFileSync(join(folder, 'password'), 'two\nlines\n')
    writeFileSync(join(folder, 'below', 'x'), 'hidden')
    const found = await directories().read(folder, ['password', 'below', 'gone', 'below/x', '../x', '..', ''])
    expect(found).toEqual({ password: 'two\nlines\n' })
  })
})

describe('EnvVarConfigProvider', () => {
  it('returns environment variables that match allowlist.pattern', () => {
    vi.stubEnv('WEIR_TEST_A', 'a')
    vi.stubEnv('WEIR_TEST_B', 'b')
    expect(environment().read('', ['WEIR_TEST_A', 'WEIR_TEST_B', 'WEIR_TEST_C'])).toEqual({
      WEIR_TEST_A: 'a',
      WEIR_TEST_B: 'b',
    })
    expect(environment({ 'allowlist.pattern': 'WEIR_TEST_A|TEST' }).read('', ['WEIR_TEST_A', 'WEIR_TEST_B'])).toEqual({
      WEIR_TEST_A: 'a',
    })
    vi.unstubAllEnvs()
  })

  it('rejects a path', () => {
    expect(() => environment().read('x', ['A'])).toThrow(
      "Path is not supported for EnvVarConfigProvider, invalid value 'x'",
    )
  })
})

describe('the Kubernetes config providers', () => {
  const secrets = (config: RawConfig) =>
    kubernetesSecretProvider.create(parseConfig(kubernetesSecretProvider.config, config), USE)
  const maps = (config: RawConfig) =>
    kubernetesConfigMapProvider.create(parseConfig(kubernetesConfigMapProvider.config, config), USE)
  const text = (value: string) => Buffer.from(value).toString('base64')

  it('return existing keys of a Secret in the given or the default namespace', async () => {
    const script = await scriptedApi()
    const config = { kubeconfig: kubeconfigOf(script.url, 'home') }
    for (const [path, settings, asked] of [
      ['db/login', config, '/api/v1/namespaces/db/secrets/login'],
      ['login', config, '/api/v1/namespaces/home/secrets/login'],
      ['login', { ...config, namespace: 'other' }, '/api/v1/namespaces/other/secrets/login'],
    ] as const) {
      const reading = secrets(settings).read(path, ['user', 'password', 'toString'])
      const exchange = await script.next()
      expect([exchange.asked.method, exchange.asked.path]).toEqual(['GET', asked])
      json(exchange.response, { data: { user: text('ada'), password: text('pässword'), more: text('x') } })
      expect(await reading).toEqual({ user: 'ada', password: 'pässword' })
    }
  })

  it('return text and binary data of a ConfigMap', async () => {
    const script = await scriptedApi()
    const reading = maps({ kubeconfig: kubeconfigOf(script.url, 'home') }).read('db/places', ['host', 'note', 'gone'])
    const { asked, response } = await script.next()
    expect(asked.path).toBe('/api/v1/namespaces/db/configmaps/places')
    json(response, { data: { host: 'db.example' }, binaryData: { note: text('in bytes') } })
    expect(await reading).toEqual({ host: 'db.example', note: 'in bytes' })
  })

  it('read a kubeconfig again that was missing before', async () => {
    const script = await scriptedApi()
    const file = kubeconfigOf(script.url, 'home')
    const config = readFileSync(file)
    rmSync(file)
    const { read } = secrets({ kubeconfig: file })
    await expect(read('login', ['user'])).rejects.toThrow(file)
    writeFileSync(file, config)
    const reading = read('login', ['user'])
    json((await script.next()).response, { data: { user: text('ada') } })
    expect(await reading).toEqual({ user: 'ada' })
  })

  it('report a missing object and an invalid reference', async () => {
    const script = await scriptedApi()
    const { read } = secrets({ kubeconfig: kubeconfigOf(script.url, 'home') })
    const reading = read('gone', ['a'])
    json((await script.next()).response, { reason: 'NotFound', message: 'secrets "gone" not found' }, 404)
    await expect(reading).rejects.toThrow('secrets "gone" not found')
    for (const path of ['', 'a/b/c', '/a', 'a/']) {
      await expect(read(path, ['a'])).rejects.toThrow(
        `'${path}' is not a valid Secret reference: expected NAMESPACE/NAME or NAME`,
      )
    }
  })
})

function kubeconfigOf(server: string, namespace: string): string {
  const file = join(temporaryDirectory(), 'kubeconfig')
  const config = {
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 'secret' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace } }],
    'current-context': 'x',
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}
