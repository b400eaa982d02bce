import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutation } from './source-mutation.ts'
import type { Step } from './world.ts'

/** The shortest history that was found with a mutation, in a file for readers, of which the steps can be carried out again. */
export type RecordedMutation = {
  readonly steps: readonly Step[]
  readonly violation: string
}

const STEP = '  {"atMs":'
const VIOLATION = 'violation: '
/** How many lines at the beginning and at the end of a long history are kept. */
const FIRST_LINES = 30
const LAST_LINES = 15
/** Depends on where the checkout is. */
const STACK_LINE = /^ +at /

/** `violation`: its first line. Throws if the history of another seed was recorded. */
export function readRecordedMutation({ name, world, seed }: Mutation): RecordedMutation {
  const lines = readFileSync(pathOf(name), 'utf8').trimEnd().split('\n')
  if (!lines.some((line) => line.startsWith(`${world} seed ${seed}, `)))
    throw new Error(`the recorded history of ${name} is not that of ${world} seed ${seed}`)
  return {
    steps: lines.filter((line) => line.startsWith(STEP)).map((line) => JSON.parse(line) as Step),
    violation: lines.find((line) => line.startsWith(VIOLATION))!.slice(VIOLATION.length),
  }
}

/** `explained`: what `explainFailure` resolves to. */
export function recordMutation({ name, fault }: Mutation, explained: string): void {
  const lines = explained.split('\n').filter((line) => !STACK_LINE.test(line))
  const isAfterSteps = lines.findLastIndex((line) => line.startsWith(STEP)) + 1
  const [head, timeline] = [lines.slice(0, isAfterSteps), lines.slice(isAfterSteps)]
  const left = timeline.length - FIRST_LINES - LAST_LINES
  const shown =
    left > 0 ? [...timeline.slice(0, FIRST_LINES), `     (${left} lines)`, ...timeline.slice(-LAST_LINES)] : timeline
  writeFileSync(pathOf(name), `${[fault, '', ...head, ...shown].join('\n')}\n`)
}

function pathOf(name: string): string {
  return join(import.meta.dirname, 'mutations', `${name}.txt`)
}
