import { describe, expect, it } from 'vitest'
import { defineConverter, defineSource, defineTransform, UNRESTRICTED, z } from '../../../src/sdk/index.ts'
import { findConnector, missingConnector } from '../../../src/worker/configuration/connector-plugin.ts'
import { parseOverridePolicy } from '../../../src/worker/model/override-policy.ts'
import { describePlugin } from '../../../src/worker/validation/plugin-description.ts'
import { type ValidationContext, validateConnector } from '../../../src/worker/validation/validate-connector.ts'
import { localPluginHost } from '../../support/plugin-host.ts'
import { SHIPPED } from '../../support/shipped-plugins.ts'
import { OPEN_VALIDATION } from '../../support/topic-access.ts'

const config = z.object({})
const versioned = (version: string) => [
  defineSource({ class: 'org.example.OrderSource', version, summary: 's', config, poll: async function* () {} }),
  defineTransform({ class: 'org.example.Upper', version, summary: 's', config, create: () => (record) => record }),
  defineConverter({
    class: 'org.example.Words',
    version,
    summary: 's',
    config,
    create: () => ({ toConnect: () => ({ schema: null, value: null }), fromConnect: () => null }),
  }),
]
const plugins = localPluginHost([...SHIPPED, ...['1.10.0', '1.9.0', '2.0.0-beta1'].flatMap(versioned)])
const VERSIONS = ['1.9.0', '1.10.0', '2.0.0-beta1']
const CONNECTOR = { 'connector.class': 'org.example.OrderSource', name: 'orders' }

describe('connector.plugin.version', () => {
  it.each([
    [undefined, '2.0.0-beta1'],
    ['latest', '2.0.0-beta1'],
    ['1.9.0', '1.9.0'],
    ['[1.0,2.0-alpha)', '1.10.0'],
  ])('%s selects %s', (required, version) => {
    const written = required === undefined ? CONNECTOR : { ...CONNECTOR, 'connector.plugin.version': required }
    expect(findConnector(plugins.catalog, written)?.version).toBe(version)
  })

  it('that is not installed is an error of the class and the version', async () => {
    const written = { ...CONNECTOR, 'connector.plugin.version': '[3.0,)' }
    const message =
      'Plugin org.example.OrderSource not found that matches the version range [3.0,), ' +
      'available versions: [1.9.0, 1.10.0, 2.0.0-beta1]'
    const { configs, error_count } = await validate(written)
    expect(error_count).toBe(2)
    expect(entryOf(configs, 'connector.class')?.errors).toEqual([message])
    expect(entryOf(configs, 'connector.plugin.version')?.errors).toEqual([message])
    expect(missingConnector(plugins.catalog, written).message).toBe(message)
  })

  it('that is not a range is an error with the reason', async () => {
    const { configs } = await validate({ ...CONNECTOR, 'connector.plugin.version': '[1.0' })
    expect(entryOf(configs, 'connector.plugin.version')?.errors).toEqual([
      'Invalid version [1.0 of plugin org.example.OrderSource: Unbounded range: [1.0',
    ])
  })

  it('defaults to the newest version, and all versions are recommended', async () => {
    const { configs } = await validate(CONNECTOR)
    expect(entryOf(configs, 'connector.plugin.version')).toMatchObject({
      value: '2.0.0-beta1',
      recommended_values: VERSIONS,
      errors: [],
    })
  })
})

describe('the plugin.version of converters and transforms', () => {
  it('is validated in the same way', async () => {
    const { configs } = await validate({
      ...CONNECTOR,
      'value.converter': 'org.example.Words',
      'value.converter.plugin.version': '5',
      transforms: 'good,bad',
      'transforms.good.type': 'org.example.Upper',
      'transforms.good.plugin.version': '(,2.0-alpha)',
      'transforms.bad.type': 'org.example.Upper',
      'transforms.bad.plugin.version': '0.1',
    })
    expect(entryOf(configs, 'value.converter.plugin.version')).toMatchObject({
      recommended_values: VERSIONS,
      errors: [expect.stringContaining('Plugin org.example.Words not found that matches the version range [5,5]')],
    })
    expect(entryOf(configs, 'transforms.good.plugin.version')).toMatchObject({ value: '(,2.0-alpha)', errors: [] })
    expect(entryOf(configs, 'transforms.bad.plugin.version')?.errors).toEqual([
      expect.stringContaining('Plugin org.example.Upper not found that matches the version range [0.1,0.1]'),
    ])
  })
})

describe('the description of a plugin', () => {
  it('is of the version that is requested', () => {
    const defaultOf = (version?: string) =>
      describePlugin('OrderSource', plugins.catalog, version).find(({ name }) => name === 'connector.plugin.version')
        ?.default_value
    expect([defaultOf(), defaultOf('1.9.0')]).toEqual(['2.0.0-beta1', '1.9.0'])
    expect(() => defaultOf('7')).toThrow('available versions: [1.9.0, 1.10.0, 2.0.0-beta1]')
  })
})

type Configs = Awaited<ReturnType<typeof validate>>['configs']

function entryOf(configs: Configs, key: string) {
  return configs.find(({ value }) => value.name === key)?.value
}

function validate(written: Readonly<Record<string, string>>) {
  const context: ValidationContext = {
    plugins,
    groupId: 'workers',
    exactlyOnceSources: false,
    workerDefaults: {},
    overrides: parseOverridePolicy('All', [])!,
    access: UNRESTRICTED,
    ...OPEN_VALIDATION,
  }
  return validateConnector(written, context, { connects: false })
}
