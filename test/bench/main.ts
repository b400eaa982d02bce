import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Kafka, startKafka } from '../env/kafka.ts'
import { slowness } from './calibration.ts'
import { builtCheckout, builtRevision } from './checkouts.ts'
import type { Curve } from './curves/curve.ts'
import { CURVES, type CurveName } from './curves/curves.ts'
import { toSvg } from './curves/picture.ts'
import { besideRevision, type Figure } from './figures.ts'
import { provideParts } from './needed-parts.ts'
import type { Work } from './part-main.ts'
import { measureInProcess, type Outcome } from './part-process.ts'
import { type BenchPart, PARTS, type PartName, type Sizes } from './parts.ts'
import { PROFILE_DIRECTORY } from './profile-process.ts'
import { type PartResult, toJson, toMarkdown, toTable } from './report.ts'
import { BROKER_JVM, progress, type Settings } from './settings.ts'

const PART_NAMES = Object.keys(PARTS) as PartName[]
const CURVE_NAMES = Object.keys(CURVES) as CurveName[]
const USAGE = `npm run bench -- [--quick] [--beside REVISION] [--rounds N] [--records N] [--objects N] [--schemas N] [--converters LIST] [--profile DIR]
    [--output table|json] [--report FILE] [all | ${PART_NAMES.join(' | ')} …]
npm run bench -- [--records N] [--objects N] [--schemas N] [--pictures DIR] curves [${CURVE_NAMES.join(' | ')} …]`
const ROOT = join(import.meta.dirname, '../..')
const SIZES: Sizes = { records: 2_000_000, rounds: 3, objects: 1_000, schemas: 100_000 }
const QUICK_SIZES: Sizes = { ...SIZES, records: 300_000, rounds: 1 }
const CURVE_SIZES: Sizes = { ...SIZES, rounds: 1, objects: 3_000, schemas: 300_000 }
const CURVE_LIMIT_MINUTES = 60

/** `npm run bench`: compares rates, times and memory of Weir with those of other systems, on the same Kafka. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    beside: { type: 'string' },
    records: { type: 'string' },
    rounds: { type: 'string' },
    objects: { type: 'string' },
    schemas: { type: 'string' },
    converters: { type: 'string' },
    profile: { type: 'string' },
    output: { type: 'string', default: 'table' },
    report: { type: 'string' },
    pictures: { type: 'string', default: join(ROOT, 'docs/pictures') },
  },
})
if (!['table', 'json'].includes(values.output)) endWithUsage(`--output must be table or json, not ${values.output}`)
const chosen: Partial<Sizes> = {
  ...numbersOf({ records: values.records, rounds: values.rounds, objects: values.objects, schemas: values.schemas }),
  ...(values.converters !== undefined && { converters: values.converters }),
}
const isCurves = positionals[0] === 'curves'
const names = positionals.filter((name) => name !== 'curves' && name !== 'all')
const known: readonly string[] = isCurves ? CURVE_NAMES : PART_NAMES
const unknown = names.filter((name) => !known.includes(name))
if (unknown.length > 0) endWithUsage(`no ${isCurves ? 'curve' : 'part'} is called ${unknown.join(', ')}`)

progress('building what people run')
const ours = await builtCheckout(ROOT)
const other = values.beside === undefined ? undefined : await builtRevision(ROOT, values.beside)
// A slower machine gets more time: a limit only ends a part that hangs.
const limitFactor = slowness()
if (values.profile !== undefined) profileInto(resolve(values.profile))

const chosenParts = (names.length > 0 ? names : PART_NAMES) as PartName[]
if (!isCurves) await provideParts(chosenParts.flatMap((part): BenchPart['needs'] => PARTS[part].needs))
const kafka = await startKafka({ jvm: BROKER_JVM })
try {
  if (isCurves) await drawCurves(kafka, (names.length > 0 ? names : CURVE_NAMES) as CurveName[])
  else await compare(kafka, chosenParts)
} finally {
  await kafka.stop()
}

/** Measures parts and prints their figures as one table. */
async function compare(cluster: Kafka, parts: readonly PartName[]): Promise<void> {
  const results: PartResult[] = []
  const startMs = performance.now()
  for (const part of parts) {
    const { quick, limitMinutes, isPaired }: BenchPart = PARTS[part]
    const sizes = { ...(values.quick ? { ...QUICK_SIZES, ...quick } : SIZES), ...chosen }
    const minutes = limitMinutes[values.quick ? 'quick' : 'full']
    const measured = (checkout: string, rounds: number) =>
      measure<readonly Figure[]>(cluster, ['part', part], { ...sizes, rounds }, { checkout, minutes: minutes * rounds })
    if (other === undefined || isPaired !== true) results.push({ part, ...(await measured(ours, sizes.rounds)) })
    else results.push({ part, ...(await alternate(sizes.rounds, measured, other)) })
  }
  const minutes = ((performance.now() - startMs) / 60_000).toFixed(1)
  const { rounds } = { ...(values.quick ? QUICK_SIZES : SIZES), ...chosen }
  const title = `${measuredOn(cluster)}. Rounds: ${rounds}, in ${minutes} minutes`
  progress('')
  console.log(values.output === 'json' ? toJson(title, results) : `${title}\n${toTable(results)}`)
  const { report } = values
  if (report !== undefined) writeFileSync(report, (report.endsWith('.json') ? toJson : toMarkdown)(title, results))
  if (results.some((result) => 'failure' in result)) process.exitCode = 1
}

/** Measures a part with this checkout and with another revision, one round of each in turn. */
async function alternate(
  rounds: number,
  measured: (checkout: string, rounds: number) => Promise<Outcome<readonly Figure[]>>,
  { checkout, name }: { readonly checkout: string; readonly name: string },
): Promise<Outcome<readonly Figure[]>> {
  const [mine, theirs]: [(readonly Figure[])[], (readonly Figure[])[]] = [[], []]
  let seconds = 0
  for (let round = 0; round < rounds; round++) {
    for (const [from, results] of [[ours, mine] as const, [checkout, theirs] as const]) {
      const outcome = await measured(from, 1)
      seconds += outcome.seconds
      if ('failure' in outcome) return { seconds, failure: `${from === ours ? '' : `${name}: `}${outcome.failure}` }
      results.push(outcome.result)
    }
  }
  return { seconds, result: besideRevision(mine, theirs, name) }
}

/** Lets all processes that are started from now on write profiles of themselves. */
function profileInto(directory: string): void {
  const options = [process.env['NODE_OPTIONS'], `--import=${import.meta.resolve('./profile-process.ts')}`]
  process.env['NODE_OPTIONS'] = options.filter((option) => option !== undefined).join(' ')
  process.env[PROFILE_DIRECTORY] = directory
}

/** Measures curves and writes their pictures. */
async function drawCurves(cluster: Kafka, curves: readonly CurveName[]): Promise<void> {
  mkdirSync(values.pictures, { recursive: true })
  for (const curve of curves) {
    const sizes = { ...CURVE_SIZES, ...chosen }
    const outcome = await measure<Curve>(cluster, ['curve', curve], sizes, {
      checkout: ours,
      minutes: CURVE_LIMIT_MINUTES,
    })
    const file = join(values.pictures, `${curve}.svg`)
    if ('failure' in outcome) process.exitCode = 1
    else writeFileSync(file, toSvg(outcome.result, measuredOn(cluster)))
    console.log('failure' in outcome ? `${curve}: ${outcome.failure}` : file)
  }
}

async function measure<Result>(
  cluster: Kafka,
  work: Work,
  sizes: Sizes,
  { checkout, minutes }: { readonly checkout: string; readonly minutes: number },
): Promise<Outcome<Result>> {
  const settings: Settings = {
    checkout,
    bootstrap: cluster.bootstrap,
    kafkaPid: cluster.pid(),
    isQuick: values.quick,
    ...sizes,
  }
  return measureInProcess<Result>(work, settings, minutes * limitFactor * 60_000)
}

function measuredOn({ version }: Kafka): string {
  const cpu = cpus()[0]?.model.trim() ?? 'unknown processor'
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`
  const date = new Date().toISOString().slice(0, 10)
  return `Measured on ${date}: ${availableParallelism()} cores (${cpu}), ${memory}, Node.js ${process.version}, Kafka ${version}`
}

/** Leaves out the options that are not given. */
function numbersOf(options: Readonly<Record<string, string | undefined>>): Readonly<Record<string, number>> {
  const given = Object.entries(options).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const numbers = given.map(([key, text]) => [key, Number(text)] as const)
  const wrong = numbers.find(([, number]) => !Number.isInteger(number) || number < 1)
  if (wrong !== undefined) endWithUsage(`--${wrong[0]} must be a positive integer`)
  return Object.fromEntries(numbers)
}

function endWithUsage(problem: string): never {
  process.stderr.write(`${problem}: ${USAGE}\n`)
  process.exit(2)
}
