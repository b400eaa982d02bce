import { describe, expect, it } from 'vitest'
import { isSecretKey } from '../../../src/common/secrets/secret-keys.ts'
import { toStoredTaskConfig } from '../../../src/worker/herder/stored-task-config.ts'

const RAW = { password: '${vault:p}', limit: '${vault:n}', tables: '${vault:t}', host: 'h' }
const RESOLVED = {
  placeholderValues: new Map([
    ['${vault:p}', 'hunter/22\n'],
    ['${vault:n}', '12'],
    ['${vault:t}', 'public.orders,public.customers'],
  ]),
}
const store = (generated: Readonly<Record<string, string>>) => toStoredTaskConfig(generated, RAW, RESOLVED, isSecretKey)

describe('toStoredTaskConfig', () => {
  it('replaces resolved values by their placeholders, under their own key and inside other values, also trimmed', () => {
    const generated = { password: 'hunter/22\n', limit: '12', host: 'h', url: 'x://hunter/22@h', 'tasks.max': '12' }
    expect(store(generated)).toEqual({
      password: '${vault:p}',
      limit: '${vault:n}',
      host: 'h',
      url: 'x://${vault:p}@h',
      'tasks.max': '12',
    })
  })

  it.each(['x://hunter%2F22@h', 'Basic aHVudGVyLzIy', '68756e7465722f3232'])(
    'rejects a configuration that contains a secret in another encoding: %s',
    (url) => {
      expect(() => store({ url })).toThrow("into 'url' of a task in another form")
    },
  )

  it('allows items of a resolved list that is not secret', () => {
    expect(store({ 'task.tables': 'public.orders' })).toEqual({ 'task.tables': 'public.orders' })
  })
})
