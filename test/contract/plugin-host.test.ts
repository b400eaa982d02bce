import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/common/clock.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { ALL_ACCESS } from '../../src/worker/host-access/connector-access.ts'
import { pluginLimits } from '../../src/worker/isolation/plugins/plugin-limits.ts'
import { ProcessPluginHost } from '../../src/worker/isolation/plugins/process-plugin-host.ts'
import type { PluginHost } from '../../src/worker/plugin-host.ts'
import { workerSettings } from '../../src/worker/settings.ts'
import { localPluginHost } from '../support/plugin-host.ts'
import { plugins } from '../support/well-behaved-plugins.ts'

const FILE = join(import.meta.dirname, '../support/well-behaved-plugins.ts')

const HOSTS: Readonly<Record<string, () => Promise<PluginHost & { close?: () => unknown }>>> = {
  'in this process': async () => localPluginHost(plugins),
  'in separate processes': () =>
    ProcessPluginHost.open({
      ...pluginLimits(workerSettings([]).values),
      pluginPath: [FILE],
      access: ALL_ACCESS,
      timeoutMs: 60_000,
      loadMsMax: 60_000,
      blockedMsMax: 10_000,
      logger: silentLogger(),
      clock: systemClock,
    }),
}

describe.each(Object.entries(HOSTS))('a plugin host with plugins %s', (_, open) => {
  let host: Awaited<ReturnType<typeof open>>
  const find = (kind: 'source' | 'provider', name: string) => {
    const found = host.catalog.find(kind, name)
    if (!found) throw new Error(`the catalog has no ${kind} ${name}`)
    return found
  }
  beforeAll(async () => {
    host = await open()
  })
  afterAll(() => host.close?.())

  it('lists plugins as plain data, under each of their names', () => {
    const ticks = find('source', 'TicksConnector')
    expect(structuredClone(ticks)).toEqual(ticks)
    expect(ticks).toMatchObject({ class: 'Ticks', version: '2.1.0', altersOffsets: true })
    expect(ticks).not.toHaveProperty('definesTransactions')
    expect(ticks.definitions.map(({ name, type, required }) => [name, type, required])).toEqual([
      ['every', 'INT', true],
      ['secret', 'PASSWORD', false],
    ])
  })

  it('validates configurations and hides passwords in the result', async () => {
    const config = { every: 'often', secret: 'hush' }
    expect(await host.call('validate-config', find('source', 'Ticks'), { config })).toEqual([
      {
        name: 'every',
        value: 'often',
        errors: ['Invalid value often for configuration every: Not a number of type INT'],
      },
      { name: 'secret', value: '[hidden]', errors: [] },
    ])
  })

  it('generates task configurations and returns when to generate them again', async () => {
    const generated = await host.call('make-tasks', find('source', 'Ticks'), { config: { every: '5' }, tasksMax: 2 })
    expect(generated).toEqual({
      configs: [
        { every: '5', at: '0' },
        { every: '5', at: '5' },
      ],
      againMs: 5_000,
    })
  })

  it('rejects a call with an invalid configuration, naming the key', async () => {
    const call = host.call('make-tasks', find('source', 'Ticks'), { config: {}, tasksMax: 2 })
    await expect(call).rejects.toMatchObject({
      code: 'plugin_failed',
      message: 'Missing required configuration "every" which has no default value.',
    })
  })

  it('rejects offsets with the message and stack trace of the connector', async () => {
    const offsets = [{ partition: { of: 1 }, offset: null }]
    const call = host.call('alter-offsets', find('source', 'Ticks'), { config: { every: '5' }, offsets })
    await expect(call).rejects.toMatchObject({
      code: 'plugin_failed',
      message: 'ticks cannot be reset',
      stack: expect.stringMatching(/^RangeError: ticks cannot be reset\n.*alterOffsets.*well-behaved-plugins\.ts/),
    })
    const accepted = [{ partition: { of: 1 }, offset: { at: 2 } }]
    expect(
      await host.call('alter-offsets', find('source', 'Ticks'), { config: { every: '5' }, offsets: accepted }),
    ).toBe('altered')
  })

  it('keeps one instance of a config provider for each configuration', async () => {
    const vault = find('provider', 'Vault')
    const [one, two] = [{ name: 'one' }, { name: 'two' }]
    await expect(host.call('create-provider', vault, { config: {} })).rejects.toMatchObject({ code: 'plugin_failed' })
    expect(await host.call('create-provider', vault, { config: one })).toBeNull()
    const read = (config: typeof one) => host.call('read-values', vault, { config, path: 'p', keys: ['a'] })
    expect([await read(one), await read(two), await read(one)]).toEqual([
      { a: 'one p a 1' },
      { a: 'two p a 2' },
      { a: 'one p a 2' },
    ])
  })
})
