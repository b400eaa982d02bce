import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutation } from './source-mutation.ts'
import type { Step } from './world.ts'

/** The shortest history that was found with a fault, in a file for readers, of which the steps can be carried out again. */
export type RecordedHistory = {
  readonly world: string
  readonly seed: number
  readonly steps: readonly Step[]
  /** Its first line. Empty if an error that no program caught ended the history. */
  readonly violation: string
}

const STEP = '  {"atMs":'
const VIOLATION = 'violation: '
/** How many lines at the beginning and at the end of a long history are kept. */
const FIRST_LINES = 30
const LAST_LINES = 15
/** Depends on where the checkout is. */
const STACK_LINE = /^ +at /
const FOUND = join(import.meta.dirname, 'found')

/** The history of a fault made by hand. */
export function mutationFile({ name }: Pick<Mutation, 'name'>): string {
  return join(import.meta.dirname, 'mutations', `${name}.txt`)
}

/** The history of a fault that a seed has found. */
export function foundFile(world: string, seed: number): string {
  return join(FOUND, `${world}-${seed}.txt`)
}

/** The files of all faults that seeds have found and that are mended. */
export function foundFiles(): readonly string[] {
  return readdirSync(FOUND).map((name) => join(FOUND, name))
}

export function readRecordedHistory(file: string): RecordedHistory {
  const text = readFileSync(file, 'utf8')
  const [, world, seed] = /^([a-z]+) seed (\d+), /m.exec(text) ?? []
  if (world === undefined) throw new Error(`${file} does not say of which seed it is`)
  const lines = text.trimEnd().split('\n')
  return {
    world,
    seed: Number(seed),
    steps: lines.filter((line) => line.startsWith(STEP)).map((line) => JSON.parse(line) as Step),
    violation: lines.find((line) => line.startsWith(VIOLATION))?.slice(VIOLATION.length) ?? '',
  }
}

/** `title`: what is at fault. `explained`: what `explainFailure` resolves to. */
export function recordHistory(file: string, title: string, explained: string): void {
  const lines = explained.split('\n').filter((line) => !STACK_LINE.test(line))
  const isAfterSteps = lines.findLastIndex((line) => line.startsWith(STEP)) + 1
  const [head, timeline] = [lines.slice(0, isAfterSteps), lines.slice(isAfterSteps)]
  const left = timeline.length - FIRST_LINES - LAST_LINES
  const shown =
    left > 0 ? [...timeline.slice(0, FIRST_LINES), `     (${left} lines)`, ...timeline.slice(-LAST_LINES)] : timeline
  writeFileSync(file, `${[title, '', ...head, ...shown].join('\n')}\n`)
}
