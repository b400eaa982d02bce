import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A row of the table in docs/tasks.md. */
export type TaskRow = {
  readonly number: number
  readonly title: string
  /** What is pressed, chosen, entered or confirmed in the console, in this order. */
  readonly clicks: readonly string[]
  /** The number of clicks that the page states. */
  readonly clickCount: number
  /** Of the best other console; undefined if none has the task. */
  readonly otherClickCount: number | undefined
  readonly commands: readonly string[]
  readonly commandCount: number
  readonly otherCommandCount: number | undefined
}

export const TASKS_PAGE = readFileSync(join(import.meta.dirname, '../../docs/tasks.md'), 'utf8')

/** The path of a task that the overview answers by itself. */
const NO_CLICK = 'Overview'

export function taskRows(): readonly TaskRow[] {
  return [...TASKS_PAGE.matchAll(/^\| (\d+) \| (.+) \|$/gm)].map(([, number, cells = '']) => {
    const [title = '', path = '', clicks, otherClicks, commands = '', count, otherCount, ...more] = cells.split(' | ')
    if (more.length > 0) throw new Error(`task ${number} has too many cells`)
    return {
      number: Number(number),
      title,
      clicks: path === NO_CLICK ? [] : path.split(' → '),
      clickCount: Number(clicks),
      otherClickCount: otherNumber(otherClicks),
      commands: [...commands.matchAll(/`([^`]+)`/g)].map(([, command]) => command!),
      commandCount: Number(count),
      otherCommandCount: otherNumber(otherCount),
    }
  })
}

/** `3[^footnote]` or `none[^footnote]` */
function otherNumber(cell = ''): number | undefined {
  const [, count = ''] = /^(\d+|none)\[\^[a-z-]+\]$/.exec(cell) ?? []
  if (count === '') throw new Error(`'${cell}' is no number with a footnote`)
  return count === 'none' ? undefined : Number(count)
}
