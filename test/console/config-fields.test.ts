import { expect, it } from 'vitest'
import {
  configFields,
  declaringResource,
  groupFields,
  searchFields,
  withoutOwner,
} from '../../src/console/page/config-fields.ts'
import type { ReportedKey } from '../../src/console/page/wire.ts'

function entry(
  name: string,
  definition: Partial<ReportedKey['definition']> = {},
  value: Partial<ReportedKey['value']> = {},
) {
  return {
    definition: {
      name,
      type: 'STRING',
      required: false,
      default_value: null,
      importance: 'LOW',
      documentation: `What ${name} does.`,
      group: 'Common',
      order_in_group: 1,
      display_name: name,
      ...definition,
    },
    value: { name, value: null, recommended_values: [], errors: [], visible: true, ...value },
  }
}
const REPORT = {
  error_count: 1,
  configs: [
    entry(
      'errors.tolerance',
      { default_value: 'none', group: 'Error Handling' },
      { recommended_values: ['none', 'all'] },
    ),
    entry('url', { required: true }, { errors: ['url is missing'] }),
    entry('name', { required: true }),
    entry('password', { type: 'PASSWORD', documentation: 'Use a <code>${secret}</code>.<br/>Never a < b.' }),
    entry('hidden', {}, { visible: false }),
  ],
}

it('Keys are in the order of their importance, with those that nothing defines last', () => {
  const fields = configFields({ name: 'a', password: 'p', 'x.unknown': '1', 'weir.owner': 'weir/default/a' }, REPORT)
  expect(fields.map(({ name }) => name)).toEqual(['name', 'url', 'errors.tolerance', 'password', 'x.unknown'])
  expect(fields.find(({ name }) => name === 'url')).toMatchObject({ value: undefined, errors: ['url is missing'] })
  expect([...groupFields(fields).keys()]).toEqual(['Common', 'Error Handling', 'Other keys'])
})

it('Tags of HTML in a documentation are left out, other text is kept', () => {
  const password = configFields({}, REPORT).find(({ name }) => name === 'password')
  expect(password?.documentation).toBe('Use a ${secret}. Never a < b.')
  expect(password?.isSecret).toBe(true)
})

it('A key that has no effect with the other values is left out, and shown as such if it is set', () => {
  const found = (config: Readonly<Record<string, string>>) =>
    configFields(config, REPORT).find(({ name }) => name === 'hidden')
  expect(found({})).toBeUndefined()
  expect(found({ hidden: '1' })?.isApplied).toBe(false)
})

it('Without a report of the worker, the keys that are set are shown', () => {
  expect(configFields({ b: '1', a: '[hidden]' }, undefined)).toMatchObject([
    { name: 'a', isSecret: true, documentation: '' },
    { name: 'b', isSecret: false, value: '1' },
  ])
})

it('The search finds keys, values and documentation, but no secrets', () => {
  const fields = configFields({ password: 'tolerance', url: 'http://tolerance' }, REPORT)
  expect(searchFields(fields, 'TOLERANCE').map(({ name }) => name)).toEqual(['url', 'errors.tolerance'])
  expect(searchFields(fields, 'what url').map(({ name }) => name)).toEqual(['url'])
})

it('The owner says which resource declares a connector', () => {
  expect(declaringResource({ 'weir.owner': 'weir/team/orders' })).toEqual({
    instance: 'weir',
    namespace: 'team',
    name: 'orders',
  })
  expect(declaringResource({ name: 'a' })).toBeUndefined()
  expect(withoutOwner({ name: 'a', 'weir.owner': 'x/y/z' })).toEqual({ name: 'a' })
})
