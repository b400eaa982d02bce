import { expect, it } from 'vitest'
import { changesBetween, draftOf, withText, withValue } from '../../src/console/page/config-draft.ts'

const draft = draftOf({ name: 'a', topics: 'orders' })

it('A field and the text of a draft change each other', () => {
  const changed = withValue(draft, 'topics', 'payments')
  expect(JSON.parse(changed.text)).toEqual({ name: 'a', topics: 'payments' })
  expect(withText(changed, '{"name": "a", "tasks.max": 2, "x": true, "y": null}').config).toEqual({
    name: 'a',
    'tasks.max': '2',
    x: 'true',
  })
  expect(withValue(draft, 'topics', undefined).config).toEqual({ name: 'a' })
})

it('Text that cannot be read is kept, with the last keys and the reason', () => {
  for (const [text, reason] of [
    ['{"name": ', 'not JSON'],
    ['[]', 'must be a JSON object'],
    ['{"a": {"b": 1}}', "value of 'a'"],
  ] as const) {
    const next = withText(draft, text)
    expect(next).toMatchObject({ text, config: draft.config })
    expect(next.error).toContain(reason)
  }
})

it('The body of a request that creates a connector is a configuration too', () => {
  expect(withText(draft, '{"name": "b", "config": {"topics": "x"}}').config).toEqual({ name: 'b', topics: 'x' })
})

it('Changes name the keys that are added, changed and removed', () => {
  expect(changesBetween({ a: '1', b: '2', c: '3' }, { a: '1', b: '4', d: '5' })).toEqual([
    { key: 'b', from: '2', to: '4' },
    { key: 'c', from: '3', to: undefined },
    { key: 'd', from: undefined, to: '5' },
  ])
})
