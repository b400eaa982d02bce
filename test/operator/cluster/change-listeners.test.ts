import { expect, it } from 'vitest'
import { createLogger } from '../../../src/common/logging/logger.ts'
import { ChangeListeners } from '../../../src/operator/cluster/change-listeners.ts'
import type { ResourceChange } from '../../../src/operator/cluster/cluster.ts'

const CHANGE: ResourceChange = { key: 'Subject/default/orders', type: 'desired' }

it('notifies the other listeners when one throws, and logs its error with the resource', () => {
  const lines: { readonly resource: string; readonly msg: string }[] = []
  const listeners = new ChangeListeners(createLogger({ write: (line) => void lines.push(JSON.parse(line)) }))
  const received: ResourceChange[] = []
  listeners.add(() => {
    throw new Error('a bug')
  })
  const remove = listeners.add((change) => void received.push(change))
  listeners.notify(CHANGE)
  remove()
  listeners.notify(CHANGE)
  expect(received).toEqual([CHANGE])
  expect(lines.map(({ resource, msg }) => [resource, msg])).toEqual([
    [CHANGE.key, 'a listener for resource changes failed'],
    [CHANGE.key, 'a listener for resource changes failed'],
  ])
})
