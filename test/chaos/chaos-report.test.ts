import { expect, it } from 'vitest'
import { type ChaosOutcome, type CopiedLines, reportOf, summaryOf, violationsOf } from './chaos-report.ts'
import type { Fault } from './fault-schedule.ts'

const KILLED: Fault = { kind: 'worker killed', instance: 2, ms: 3_000 }
const FROZEN: Fault = { kind: 'worker frozen', instance: 1, ms: 8_000 }
const GOOD: CopiedLines = { place: 'lines-a', written: 100, missing: 0, repeated: 0, displaced: 0 }

it('reports nothing about a run that kept all promises', () => {
  expect(violationsOf(outcome())).toEqual([])
  expect(reportOf(outcome())).toMatchInlineSnapshot(`
    "seed 3: 3 brokers, 2 registries, 2 workers with at-least-once sources
       0.5 s  worker 2 killed for 3.0 s: recovered in 2.3 s
    schemas: 10 acknowledged, 0 lost, 11 ids, 0 assigned twice
    lines-a: 100 lines, 0 missing, 0 repeated, 0 out of order
    the sink: 100 lines, 0 missing, 0 repeated, 0 out of order
    seed 3: all promises kept"
  `)
})

it.each([
  [
    'a task that does not run',
    { lacking: 'lines-a is FAILED' },
    ['after worker 2 killed for 3.0 s: lines-a is FAILED'],
  ],
  ['a lost schema', { lost: ['s-1'] }, ['lost schema: s-1']],
  ['an id assigned twice', { repeatedIds: ['7: "int" "long"'] }, ['id assigned twice: 7: "int" "long"']],
  ['a finding of the load', { findings: ['worker 1 has exited by itself'] }, ['worker 1 has exited by itself']],
  ['a missing line in a topic', { topic: { missing: 1 } }, ['1 lines are missing in lines-a']],
  ['a missing line at the sink', { sink: { missing: 2 } }, ['2 lines are missing in the sink']],
  ['lines out of order', { topic: { displaced: 3 } }, ['3 lines are out of order in lines-a']],
  ['lines out of order at the sink', { sink: { displaced: 3 } }, ['3 lines are out of order in the sink']],
  [
    'repeats with exactly-once',
    { isExactlyOnce: true, topic: { repeated: 4 } },
    ['4 lines are repeated in lines-a, with exactly-once'],
  ],
  [
    'disorder with exactly-once, after a freeze',
    { isExactlyOnce: true, faults: [FROZEN], topic: { displaced: 3 } },
    ['3 lines are out of order in lines-a'],
  ],
] as const)('finds %s', (_, given, expected) => {
  expect(violationsOf(outcome(given))).toEqual(expected)
})

it.each([
  ['repeats of at-least-once sources and of sinks', { topic: { repeated: 4 }, sink: { repeated: 5 } }],
  ['repeats of sinks with exactly-once sources', { isExactlyOnce: true, sink: { repeated: 5 } }],
  [
    'disorder by a worker that was replaced while it was frozen',
    { faults: [FROZEN], topic: { displaced: 3 }, sink: { displaced: 3 } },
  ],
] as const)('accepts %s', (_, given) => {
  expect(violationsOf(outcome(given))).toEqual([])
})

it('names what was violated, and the command that runs the seed again', () => {
  const report = reportOf(outcome({ lost: ['s-1'] }))
  expect(report).toContain('seed 3: 1 violations\n  lost schema: s-1\n  again: npm run chaos -- --seed 3 --minutes 0.5')
})

it('sums up several seeds by kind of fault', () => {
  expect(summaryOf([outcome(), outcome({ topic: { missing: 2, repeated: 7 } })])).toMatchInlineSnapshot(`
    "| fault | count | median recovery | longest recovery |
    | --- | --- | --- | --- |
    | worker killed | 2 | 2.3 s | 2.3 s |
    2 seeds, 2 steps, 2 faults
    schemas: 20 acknowledged, 0 lost, 0 ids assigned twice
    lines: 200 written, 2 missing
    repeated: 0 by exactly-once sources, 7 by all sources, 0 by sinks
    failed: seeds 3"
  `)
})

type Given = {
  readonly isExactlyOnce?: boolean
  readonly faults?: readonly Fault[]
  readonly lacking?: string
  readonly lost?: readonly string[]
  readonly repeatedIds?: readonly string[]
  readonly findings?: readonly string[]
  readonly topic?: Partial<CopiedLines>
  readonly sink?: Partial<CopiedLines>
}

function outcome(given: Given = {}): ChaosOutcome {
  const { isExactlyOnce = false, faults = [KILLED], lacking, lost = [], repeatedIds = [], findings = [] } = given
  const step = { atMs: 500, faults }
  return {
    schedule: { seed: 3, workers: 2, isExactlyOnce, steps: [step] },
    minutes: 0.5,
    steps: [{ step, beganMs: 510, recoveryMs: 2_300, lacking, restartedTasks: 0 }],
    schemas: { acknowledged: 10, ids: 11, lost, repeatedIds },
    topics: [{ ...GOOD, ...given.topic }],
    sinks: [{ ...GOOD, place: 'the sink', ...given.sink }],
    findings,
  }
}
