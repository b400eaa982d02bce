import { describeFault, FAULT_KINDS, leavesReplacedWriters, type Schedule, type Step } from './fault-schedule.ts'

/** How the lines of one source arrived in its topic, or in the file of the sink. */
export type CopiedLines = {
  readonly place: string
  readonly written: number
  readonly missing: number
  readonly repeated: number
  readonly displaced: number
}
export type StepOutcome = {
  readonly step: Step
  /** Since the begin of the first step. */
  readonly beganMs: number
  /** From the end of the last fault of the step until everything worked. */
  readonly recoveryMs: number
  /** What did not work at the limit of the recovery; undefined if it recovered in time. */
  readonly lacking: string | undefined
  /** Tasks that had failed for a lack of rights, which a person restarts. */
  readonly restartedTasks: number
}
export type ChaosOutcome = {
  readonly schedule: Schedule
  readonly minutes: number
  readonly steps: readonly StepOutcome[]
  readonly schemas: {
    readonly acknowledged: number
    readonly ids: number
    readonly lost: readonly string[]
    readonly repeatedIds: readonly string[]
  }
  readonly topics: readonly CopiedLines[]
  readonly sinks: readonly CopiedLines[]
  /** Of the load and of the supervision of the programs. */
  readonly findings: readonly string[]
}

/** What the run has shown to be broken. Empty if all promises were kept. */
export function violationsOf(outcome: ChaosOutcome): readonly string[] {
  const { schedule, steps, schemas, topics, sinks, findings } = outcome
  const maySurvive = leavesReplacedWriters(schedule)
  const { isExactlyOnce } = schedule
  return [
    ...steps.flatMap(({ step, lacking }) => (lacking === undefined ? [] : [`after ${faultsOf(step)}: ${lacking}`])),
    ...schemas.lost.map((loss) => `lost schema: ${loss}`),
    ...schemas.repeatedIds.map((id) => `id assigned twice: ${id}`),
    ...[...topics, ...sinks].flatMap(({ place, missing }) =>
      missing > 0 ? [`${missing} lines are missing in ${place}`] : [],
    ),
    ...topics.flatMap(({ place, repeated }) =>
      isExactlyOnce && repeated > 0 ? [`${repeated} lines are repeated in ${place}, with exactly-once`] : [],
    ),
    ...topics.flatMap(({ place, displaced }) =>
      displaced > 0 && (isExactlyOnce || !maySurvive) ? [`${displaced} lines are out of order in ${place}`] : [],
    ),
    ...sinks.flatMap(({ place, displaced }) =>
      displaced > 0 && !maySurvive ? [`${displaced} lines are out of order in ${place}`] : [],
    ),
    ...findings,
  ]
}

/** The report of a run: faults with their recovery, counts, findings, and how to run it again. */
export function reportOf(outcome: ChaosOutcome): string {
  const { schedule, steps, schemas, topics, sinks } = outcome
  const violations = violationsOf(outcome)
  return [
    `seed ${schedule.seed}: ${describeSystem(schedule)}`,
    ...steps.map(lineOf),
    `schemas: ${schemas.acknowledged} acknowledged, ${schemas.lost.length} lost, ${schemas.ids} ids, ${schemas.repeatedIds.length} assigned twice`,
    ...[...topics, ...sinks].map(countsOf),
    ...(violations.length === 0
      ? [`seed ${schedule.seed}: all promises kept`]
      : [
          `seed ${schedule.seed}: ${violations.length} violations`,
          ...violations.map((one) => `  ${one}`),
          `  again: ${commandOf(outcome)}`,
        ]),
  ].join('\n')
}

/** The sums of several runs: one line for each kind of fault, the counts and the seeds that failed. */
export function summaryOf(outcomes: readonly ChaosOutcome[]): string {
  const steps = outcomes.flatMap((outcome) => outcome.steps)
  const rows = FAULT_KINDS.flatMap((kind) => {
    const those = steps.filter(({ step }) => step.faults.some((fault) => fault.kind === kind))
    const times = those.map(({ recoveryMs }) => recoveryMs).toSorted((a, b) => a - b)
    if (times.length === 0) return []
    const [median, longest] = [times[Math.floor(times.length / 2)]!, times.at(-1)!]
    return [`| ${kind} | ${times.length} | ${seconds(median)} | ${seconds(longest)} |`]
  })
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const failed = outcomes.filter((outcome) => violationsOf(outcome).length > 0)
  const lines = (copied: (outcome: ChaosOutcome) => readonly CopiedLines[], key: 'written' | 'missing' | 'repeated') =>
    sum(outcomes.flatMap(copied).map((one) => one[key]))
  const exactlyOnce = outcomes.filter(({ schedule }) => schedule.isExactlyOnce)
  return [
    '| fault | count | median recovery | longest recovery |',
    '| --- | --- | --- | --- |',
    ...rows,
    `${outcomes.length} seeds, ${steps.length} steps, ${sum(steps.map(({ step }) => step.faults.length))} faults`,
    `schemas: ${sum(outcomes.map(({ schemas }) => schemas.acknowledged))} acknowledged, ${sum(outcomes.map(({ schemas }) => schemas.lost.length))} lost, ${sum(outcomes.map(({ schemas }) => schemas.repeatedIds.length))} ids assigned twice`,
    `lines: ${lines(({ topics }) => topics, 'written')} written, ${lines(({ topics, sinks }) => [...topics, ...sinks], 'missing')} missing`,
    `repeated: ${sum(exactlyOnce.flatMap(({ topics }) => topics.map(({ repeated }) => repeated)))} by exactly-once sources, ${lines(({ topics }) => topics, 'repeated')} by all sources, ${lines(({ sinks }) => sinks, 'repeated')} by sinks`,
    failed.length === 0
      ? 'all promises kept'
      : `failed: seeds ${failed.map(({ schedule }) => schedule.seed).join(', ')}`,
  ].join('\n')
}

export function describeSystem({ workers, isExactlyOnce }: Schedule): string {
  return `3 brokers, 2 registries, ${workers} workers with ${isExactlyOnce ? 'exactly-once' : 'at-least-once'} sources`
}

function lineOf({ step, beganMs, recoveryMs, lacking, restartedTasks }: StepOutcome): string {
  const end = lacking === undefined ? `recovered in ${seconds(recoveryMs)}` : `not recovered in ${seconds(recoveryMs)}`
  const hand = restartedTasks === 0 ? '' : `, ${restartedTasks} failed tasks restarted`
  return `${seconds(beganMs).padStart(8)}  ${faultsOf(step)}: ${end}${hand}`
}

function countsOf({ place, written, missing, repeated, displaced }: CopiedLines): string {
  return `${place}: ${written} lines, ${missing} missing, ${repeated} repeated, ${displaced} out of order`
}

function faultsOf({ faults }: Step): string {
  return faults.map(describeFault).join('; ')
}

function commandOf({ schedule, minutes }: ChaosOutcome): string {
  return `npm run chaos -- --seed ${schedule.seed} --minutes ${minutes}`
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
