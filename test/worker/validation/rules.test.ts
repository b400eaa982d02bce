import { expect, it } from 'vitest'
import { shippedCatalog } from '../../../src/plugins/shipped.ts'
import { parseOverridePolicy } from '../../../src/worker/validation/overrides.ts'
import { validateConnector } from '../../../src/worker/validation/validate.ts'

const SINK = { 'connector.class': 'FileStreamSink', name: 'out', file: '/tmp/out' }

function errorsOf(config: Readonly<Record<string, string>>, key: string): readonly string[] | undefined {
  const { configs } = validateConnector(
    { ...SINK, ...config },
    {
      plugins: shippedCatalog(),
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

it('keep a sink from reading its own dead letters', () => {
  const letters = { 'errors.deadletterqueue.topic.name': 'Orders-dead' }
  expect(errorsOf({ ...letters, 'topics.regex': '(?i)orders-.*' }, 'topics.regex')).toHaveLength(1)
  expect(errorsOf({ ...letters, 'topics.regex': 'orders-.*' }, 'topics.regex')).toEqual([])
})
