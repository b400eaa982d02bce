import { parseArgs } from 'node:util'
import { builtProgram } from '../env/built-program.ts'
import { type ChaosOutcome, describeSystem, reportOf, summaryOf, violationsOf } from './chaos-report.ts'
import { faultSchedule, timelineOf } from './fault-schedule.ts'
import { runChaos } from './run-chaos.ts'

const USAGE = 'npm run chaos -- [--seed N | --seeds FROM..TO] [--minutes M] [--logs DIR]'

/** `npm run chaos`: random faults of brokers, network and programs while data flows, and a check of what is left. */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    logs: { type: 'string' },
  },
})
const seeds = seedsOf(values.seeds ?? `${values.seed}..${values.seed}`)
const minutes = Number(values.minutes)
if (!(minutes > 0)) endWithUsage(`--minutes must be a positive number, not ${values.minutes}`)

// When this process exits, `test/env/workspace.ts` ends by their ids all processes that it has started, and removes their files.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code))

Object.assign(process.env, process.env['WEIR_CLI'] === undefined ? await builtProgram() : {})
const outcomes: ChaosOutcome[] = []
const failures: string[] = []
for (const seed of seeds) await run(seed)
if (seeds.length > 1) console.log(summaryOf(outcomes))
for (const failure of failures) console.log(failure)
if (failures.length > 0) process.exitCode = 1

async function run(seed: number): Promise<void> {
  const schedule = faultSchedule(seed, minutes)
  const progress = (line: string) => process.stderr.write(`${line}\n`)
  progress([`seed ${seed}, ${minutes} min: ${describeSystem(schedule)}. Planned:`, ...timelineOf(schedule)].join('\n'))
  try {
    const outcome = await runChaos(schedule, { minutes, progress, logs: values.logs })
    outcomes.push(outcome)
    console.log(reportOf(outcome))
    const { length } = violationsOf(outcome)
    if (length > 0) failures.push(`seed ${seed}: ${length} violations`)
  } catch (error) {
    failures.push(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`)
  }
}

function seedsOf(range: string): readonly number[] {
  const [first = Number.NaN, last = Number.NaN] = range.split('..').map(Number)
  if (!(Number.isInteger(first) && Number.isInteger(last) && first <= last)) endWithUsage(`${range} is not FROM..TO`)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

function endWithUsage(problem: string): never {
  process.stderr.write(`${problem}: ${USAGE}\n`)
  process.exit(2)
}
