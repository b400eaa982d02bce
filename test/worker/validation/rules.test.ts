import { expect, it } from 'vitest'
import { createCatalog } from '../../../src/plugins/catalog.ts'
import { shippedCatalog } from '../../../src/plugins/shipped.ts'
import { defineSource, z } from '../../../src/sdk/index.ts'
import { parseOverridePolicy } from '../../../src/worker/validation/overrides.ts'
import { validateConnector } from '../../../src/worker/validation/validate.ts'

const SINK = { 'connector.class': 'FileStreamSink', name: 'out', file: '/tmp/out' }

function errorsOf(config: Readonly<Record<string, string>>, key: string, plugins = shippedCatalog()) {
  const { configs } = validateConnector(
    { ...SINK, ...config },
    {
      plugins,
      groupId: 'workers',
      exactlyOnceSources: false,
      workerDefaults: {},
      overrides: parseOverridePolicy('All', [])!,
    },
  )
  return configs.find(({ value }) => value.name === key)?.value.errors
}

it('take expressions for topics as Java reads them', () => {
  expect(errorsOf({ 'topics.regex': '(?i)orders-\\Q.\\E\\p{Alpha}+' }, 'topics.regex')).toEqual([])
  expect(errorsOf({ 'topics.regex': 'orders-(' }, 'topics.regex')).toEqual([
    'Invalid value orders-( for configuration topics.regex: Invalid regex',
  ])
})

it('let a source end its transactions itself only if it can', () => {
  const catalog = (definesTransactions: boolean) => {
    const poll = async function* () {}
    const plugin = { class: 'Own', version: '1', summary: '', config: z.object({}), definesTransactions, poll }
    return createCatalog([defineSource(plugin)])
  }
  const config = { 'connector.class': 'Own', 'transaction.boundary': 'Connector' }
  expect(errorsOf(config, 'transaction.boundary', catalog(true))).toEqual([])
  expect(errorsOf(config, 'transaction.boundary', catalog(false))).toEqual([
    'The connector does not support connector-defined transaction boundaries with the given configuration. ' +
      'Please reconfigure it to use a different transaction boundary definition.',
  ])
})

it('keep a sink from reading its own dead letters', () => {
  const letters = { 'errors.deadletterqueue.topic.name': 'Orders-dead' }
  expect(errorsOf({ ...letters, 'topics.regex': '(?i)orders-.*' }, 'topics.regex')).toHaveLength(1)
  expect(errorsOf({ ...letters, 'topics.regex': 'orders-.*' }, 'topics.regex')).toEqual([])
})
