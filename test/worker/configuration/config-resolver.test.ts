import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { createLogger, secretMaskerOf } from '../../../src/common/logging/logger.ts'
import { SecretMasker } from '../../../src/common/secrets/secret-masker.ts'
import { ConfigResolver, createProviders } from '../../../src/worker/configuration/config-resolver.ts'
import { LiteralSecrets } from '../../../src/worker/configuration/literal-secrets.ts'
import { watchPlaceholders } from '../../../src/worker/configuration/placeholder-watch.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { localPluginHost } from '../../support/plugin-host.ts'

/** A provider whose values a test changes. */
function vault(values: Record<string, string>) {
  const asked: string[] = []
  const read = (path: string, keys: readonly string[]) => {
    asked.push(`${path}:${keys.join(',')}`)
    if (path === 'broken') throw new Error('the vault is shut')
    return Object.fromEntries(keys.flatMap((key) => (key in values ? [[key, values[key]!]] : [])))
  }
  return { values, asked, resolver: new ConfigResolver(new Map([['vault', read]]), new SecretMasker()) }
}

describe('placeholders', () => {
  it('are resolved everywhere in a value, with one provider call per path', async () => {
    const { resolver, asked } = vault({ user: 'me', password: 'hunter22' })
    const { config } = await resolver.resolve({
      url: 'jdbc://${vault:db:user}:${vault:db:password}@host',
      user: '${vault:db:user}',
      short: '${vault:user}',
    })
    expect(config).toEqual({ url: 'jdbc://me:hunter22@host', user: 'me', short: 'me' })
    expect(asked).toEqual(['db:user,password', ':user'])
  })

  it('are left unchanged when the provider or key does not exist', async () => {
    const { resolver } = vault({})
    const raw = { a: '${other:x}', b: '${vault:x}', c: '${topic}-$1', d: '${vault:p:}' }
    expect((await resolver.resolve(raw)).config).toEqual(raw)
  })

  it('fail the resolution with the path when the provider fails', async () => {
    await expect(vault({}).resolver.resolve({ a: '${vault:broken:x}' })).rejects.toThrow(
      'cannot resolve ${vault:broken:…}: the vault is shut',
    )
  })
})

describe('resolved values', () => {
  it('are masked for a connector whose name is that of a task of another one, for as long as both run', async () => {
    let nowMs = 0
    const secrets = new SecretMasker(() => nowMs)
    const resolver = new ConfigResolver(new Map([['vault', (path) => ({ p: `of ${path}` })]]), secrets)
    const literals = new LiteralSecrets(localPluginHost().catalog, secrets)
    await resolver.resolve({ p: '${vault:mail:p}' }, { connector: 'orders-0' })
    await resolver.resolve({ p: '${vault:shop:p}' }, { connector: 'orders', task: 0 })
    literals.apply({ kind: 'connector', connector: 'orders-0', config: { password: 'hunter22' } })
    literals.apply({ kind: 'task', connector: 'orders', task: 0, config: { password: 'another1' } })
    // Released values are masked for another hour.
    nowMs += 4_000_000
    secrets.notice([])
    expect(secrets.mask('<of mail> <hunter22>')).toBe('<[hidden]> <[hidden]>')
  })

  it('are masked in texts and in every line of the registered logger', async () => {
    const lines: string[] = []
    const logger = createLogger({ write: (line) => void lines.push(line) })
    const resolver = new ConfigResolver(
      new Map([['vault', () => ({ p: 'se"cret' })]]),
      secretMaskerOf(logger.child({})),
    )
    await resolver.resolve({ p: '${vault:p}' })
    expect(resolver.mask('no entry for se"cret here')).toBe('no entry for [hidden] here')
    logger.child({ task: 0 }).error({ err: new Error('bad se"cret') }, 'failed')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('bad [hidden]')
    expect(lines[0]).not.toContain('cret"')
  })
})

describe('watchPlaceholders', () => {
  it('restarts connectors whose placeholders have new values', async () => {
    const { resolver, values } = vault({ a: 'first', b: 'same' })
    await resolver.resolve({ x: '${vault:a}' }, { connector: 'one' })
    await resolver.resolve({ x: '${vault:b}' }, { connector: 'two' })
    const clock = new FakeClock()
    const ending = new AbortController()
    const restarted: string[] = []
    const watching = watchPlaceholders(
      {
        resolver,
        clock,
        logger: pino({ level: 'silent' }),
        intervalMs: 1_000,
        connectors: () => ['one', 'two', 'three'],
        configOf: (name) => ({ 'config.action.reload': name === 'three' ? 'None' : 'restart' }),
        restart: (connector) => void restarted.push(connector),
      },
      ending.signal,
    )
    await clock.advance(1_000)
    expect(restarted).toEqual([])
    await resolver.resolve({ x: '${vault:a}' }, { connector: 'three' })
    values['a'] = 'second'
    await clock.advance(1_000)
    expect(restarted).toEqual(['one'])
    await resolver.resolve({ x: '${vault:a}' }, { connector: 'one' })
    await clock.advance(5_000)
    expect(restarted).toEqual(['one'])
    ending.abort()
    await watching
  })

  it('detects changes although another provider fails, and restarts no connector because of the failure', async () => {
    const good = { a: 'first' }
    let isBroken = false
    const providers = new Map([
      ['good', () => good],
      ['bad', () => (isBroken ? Promise.reject(new Error('sealed')) : { a: 'same' })],
    ])
    const resolver = new ConfigResolver(providers, new SecretMasker())
    await resolver.resolve({ x: '${good:a}' }, { connector: 'one' })
    await resolver.resolve({ x: '${bad:a}' }, { connector: 'two' })
    isBroken = true
    good.a = 'second'
    const unreadable: unknown[] = []
    expect(await resolver.connectorsWithChangedValues(['one', 'two'], (error) => unreadable.push(error))).toEqual([
      'one',
    ])
    expect(unreadable).toEqual([expect.objectContaining({ message: 'cannot resolve ${bad:…}: sealed' })])
  })

  it('ignores deleted connectors', async () => {
    const { resolver, values } = vault({ a: 'first' })
    await resolver.resolve({ x: '${vault:a}' }, { connector: 'one' })
    values['a'] = 'second'
    expect(await resolver.connectorsWithChangedValues([], () => expect.unreachable())).toEqual([])
    expect(await resolver.connectorsWithChangedValues(['one'], () => expect.unreachable())).toEqual([])
  })
})

describe('connectors with changed values', () => {
  const changed = ({ resolver }: ReturnType<typeof vault>) =>
    resolver.connectorsWithChangedValues(['c'], () => undefined)

  it('are not those whose configuration no longer has the placeholder', async () => {
    const store = vault({ old: 'first', new: 'second' })
    await store.resolver.resolve({ x: '${vault:old}' }, { connector: 'c' })
    await store.resolver.resolve({ x: '${vault:new}' }, { connector: 'c' })
    store.values['old'] = 'rotated'
    expect(await changed(store)).toEqual([])
  })

  it('do not include a connector that starts with new values while the values are read', async () => {
    const reads: PromiseWithResolvers<Record<string, string>>[] = []
    const read = () => {
      const reading = Promise.withResolvers<Record<string, string>>()
      reads.push(reading)
      return reading.promise
    }
    const resolver = new ConfigResolver(new Map([['vault', read]]), new SecretMasker())
    const start = async (connector: string, placeholder: string, value: string) => {
      const resolving = resolver.resolve({ x: `\${vault:${placeholder}}` }, { connector })
      reads.pop()!.resolve({ [placeholder]: value })
      await resolving
    }
    await start('c', 'a', 'first')
    const changed = resolver.connectorsWithChangedValues(['c', 'd'], () => expect.unreachable())
    const checked = reads.pop()!
    await start('d', 'b', 'another')
    await start('c', 'a', 'second')
    checked.resolve({ a: 'first' })
    expect(await changed).toEqual([])
  })

  it('include those whose tasks have an older value than the connector', async () => {
    const store = vault({ a: 'first' })
    await store.resolver.resolve({ x: '${vault:a}' }, { connector: 'c' })
    await store.resolver.resolve({ x: '${vault:a}' }, { connector: 'c', task: 0 })
    store.values['a'] = 'second'
    await store.resolver.resolve({ x: '${vault:a}' }, { connector: 'c' })
    expect(await changed(store)).toEqual(['c'])
  })

  it('are not those that have ended, such as a stopped connector', async () => {
    const store = vault({ a: 'first' })
    await store.resolver.resolve({ x: '${vault:a}' }, { connector: 'c' })
    store.resolver.release({ connector: 'c' })
    store.values['a'] = 'second'
    expect(await changed(store)).toEqual([])
  })

  it('include those that failed to start because a value could not be read, as soon as all can be read', async () => {
    let isSealed = true
    const read = async (_: string, [key = '']: readonly string[]) => {
      if (key === 'a' && isSealed) throw new Error('sealed')
      return { [key]: 'first' }
    }
    const providers = new Map([
      ['good', read],
      ['vault', read],
    ])
    const resolver = new ConfigResolver(providers, new SecretMasker())
    const config = { x: '${vault:a}', y: '${good:b}' }
    await expect(resolver.resolve(config, { connector: 'c', task: 0 })).rejects.toThrow('sealed')
    const find = () => resolver.connectorsWithChangedValues(['c'], () => undefined)
    expect(await find()).toEqual([])
    isSealed = false
    expect(await find()).toEqual(['c'])
    await resolver.resolve(config, { connector: 'c', task: 0 })
    expect(await find()).toEqual([])
  })
})

describe('config.providers', () => {
  const create = (settings: Readonly<Record<string, string>>) => createProviders(settings, localPluginHost())

  it('are created by name with their own parameters', async () => {
    const providers = await create({
      'config.providers': 'env, file',
      'config.providers.env.class': 'org.apache.kafka.common.config.provider.EnvVarConfigProvider',
      'config.providers.env.param.allowlist.pattern': 'NONE',
      'config.providers.file.class': 'FileConfigProvider',
    })
    expect([...providers.keys()]).toEqual(['env', 'file'])
    expect(await providers.get('env')?.('', ['PATH'])).toEqual({})
  })

  it('are rejected with the expected values when a class is not installed or a parameter is invalid', async () => {
    await expect(create({ 'config.providers': 'x' })).rejects.toThrow(
      /^config.providers.x.class is not set: there are .*\borg.apache.kafka.common.config.provider.DirectoryConfigProvider,/,
    )
    await expect(create({ 'config.providers': 'x', 'config.providers.x.class': 'com.example.V' })).rejects.toThrow(
      "config.providers.x.class 'com.example.V' is not here",
    )
    const wrong = { 'config.providers': 'x', 'config.providers.x.class': 'EnvVarConfigProvider' }
    await expect(create({ ...wrong, 'config.providers.x.param.allowlist.pattern': '(' })).rejects.toThrow(
      'config.providers.x.param: Invalid value ( for configuration allowlist.pattern: Invalid regex',
    )
  })
})
