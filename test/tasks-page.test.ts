import { describe, expect, it } from 'vitest'
import { TASKS_PAGE, taskRows } from './support/tasks-page.ts'

describe('docs/tasks.md', () => {
  const rows = taskRows()

  it('has twenty tasks, and states the number of their clicks and commands', () => {
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1))
    expect(rows.map(({ clickCount, commandCount }) => [clickCount, commandCount])).toEqual(
      rows.map(({ clicks, commands }) => [clicks.length, commands.length]),
    )
  })

  it('has no task that needs more clicks or commands than the best other tool', () => {
    const more = rows.filter(
      ({ clickCount, otherClickCount = clickCount, commandCount, otherCommandCount = commandCount }) =>
        clickCount > otherClickCount || commandCount > otherCommandCount,
    )
    expect(more.map(({ title }) => title)).toEqual([])
  })

  it('has a footnote with the source of each number of another tool, and no other footnotes', () => {
    const used = [...TASKS_PAGE.matchAll(/\[\^([a-z-]+)\](?!:)/g)].map(([, name]) => name)
    const defined = [...TASKS_PAGE.matchAll(/^\[\^([a-z-]+)\]:/gm)].map(([, name]) => name)
    expect([...new Set(used)].sort()).toEqual(defined.sort())
  })
})
