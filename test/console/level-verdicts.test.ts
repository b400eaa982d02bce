import { expect, it } from 'vitest'
import { levelVerdicts } from '../../src/console/page/level-verdicts.ts'

it.each([
  [{ backward: [], forward: [] }, 'BACKWARD FORWARD FULL NONE'],
  [{ backward: ['a'], forward: [] }, 'FORWARD NONE'],
  [{ backward: [], forward: ['b'] }, 'BACKWARD NONE'],
  [{ backward: ['a'], forward: ['a', 'b'] }, 'NONE'],
])('Of the comparison %j, these levels permit the newer version: %s', (comparison, permitted) => {
  const verdicts = levelVerdicts(comparison)
  expect(verdicts.flatMap(({ level, isPermitted }) => (isPermitted ? [level] : [])).join(' ')).toBe(permitted)
  expect(verdicts.find(({ level }) => level === 'FULL')?.reasons).toEqual([
    ...new Set([...comparison.backward, ...comparison.forward]),
  ])
})
