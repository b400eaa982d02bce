import { expect, it } from 'vitest'
import { performOnEach } from '../../src/console/page/bulk-action.ts'

const names = Array.from({ length: 25 }, (_, at) => `c${at}`)

it('An action is performed on each connector once, and the failures of some do not keep it from the others', async () => {
  const performed: string[] = []
  const failures = await performOnEach(names, async (name) => {
    performed.push(name)
    await Promise.resolve()
    if (name === 'c20' || name === 'c3') throw new Error(`you may not change ${name}`)
  })
  expect(performed.toSorted()).toEqual(names.toSorted())
  expect(failures).toEqual([
    { connector: 'c3', reason: 'you may not change c3' },
    { connector: 'c20', reason: 'you may not change c20' },
  ])
})

it('At most four requests run at the same time', async () => {
  let [running, most] = [0, 0]
  await performOnEach(names, async () => {
    running += 1
    most = Math.max(most, running)
    await new Promise(setImmediate)
    running -= 1
  })
  expect(most).toBe(4)
})
