import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Kafka, startKafka } from '../env/kafka.ts'
import { run } from '../env/process.ts'
import { runPart } from './part-process.ts'
import { isPartName, PARTS, type PartName, type Sizes } from './parts.ts'
import { type PartResult, toJson, toMarkdown, toTable } from './report.ts'
import { progress, type Settings } from './settings.ts'

const NAMES = Object.keys(PARTS) as PartName[]
const USAGE = `npm run bench -- [--quick] [--records N] [--rounds N] [--objects N] [--schemas N] [--converters LIST] [--profile DIR]
  [--output table|json] [--report FILE] all | ${NAMES.join(' | ')} …`
/** JVM options for production-like performance, unlike those of the tests. */
const BROKER_JVM = ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC']
const SIZES: Sizes = { records: 2_000_000, rounds: 3, objects: 1_000, schemas: 100_000 }
const QUICK_SIZES: Sizes = { ...SIZES, records: 300_000, rounds: 1, objects: 200 }
/** Limit for all parts of `--quick` with one round. */
const QUICK_LIMIT_MINUTES = 14

/** `npm run bench`: compares rates, times and memory of Weir with those of other systems, on the same Kafka. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    records: { type: 'string' },
    rounds: { type: 'string' },
    objects: { type: 'string' },
    schemas: { type: 'string' },
    converters: { type: 'string' },
    profile: { type: 'string' },
    output: { type: 'string', default: 'table' },
    report: { type: 'string' },
  },
})
const names = positionals.length === 0 || positionals.includes('all') ? NAMES : positionals.filter(isPartName)
const unknown = positionals.filter((name) => name !== 'all' && !isPartName(name))
if (unknown.length > 0 || !['table', 'json'].includes(values.output)) {
  process.stderr.write(`${unknown.length > 0 ? `no bench is called ${unknown.join(', ')}: ` : ''}${USAGE}\n`)
  process.exit(2)
}
const chosen: Partial<Sizes> = {
  ...numbersOf({ records: values.records, rounds: values.rounds, objects: values.objects, schemas: values.schemas }),
  ...(values.converters !== undefined && { converters: values.converters }),
}

progress('building what people run')
const build = join(import.meta.dirname, '../../scripts/build.mjs')
const built = await run({ file: process.execPath, args: [build, '--code'], directory: '.' })
if (built.code !== 0) throw new Error(`the sources cannot be built:\n${built.stderr}`)
process.env['WEIR_CLI'] = join(import.meta.dirname, '../../dist/cli/weir.js')

const kafka = await startKafka({ jvm: BROKER_JVM })
try {
  const results = await runAll(kafka)
  const cpu = cpus()[0]?.model ?? 'unknown processor'
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`
  const machine = `${availableParallelism()} cores (${cpu}), ${memory}, Node.js ${process.version}, Kafka ${kafka.version}`
  const title = `${new Date().toISOString().slice(0, 16)}Z: ${machine}; ${settingsOf(names[0]!, kafka).rounds} rounds`
  progress('')
  console.log(values.output === 'json' ? toJson(title, results) : `${title}\n${toTable(results)}`)
  if (values.report !== undefined) {
    writeFileSync(values.report, values.report.endsWith('.json') ? toJson(title, results) : toMarkdown(title, results))
  }
  if (results.some((result) => 'failure' in result)) process.exitCode = 1
} finally {
  await kafka.stop()
}

/** Runs the parts one after the other. With `--quick`, parts that do not fit into the limit fail. */
async function runAll(cluster: Kafka): Promise<readonly PartResult[]> {
  const results: PartResult[] = []
  const startMs = performance.now()
  for (const part of names) {
    const settings = settingsOf(part, cluster)
    const { limitMinutes } = PARTS[part]
    const own = limitMinutes[values.quick ? 'quick' : 'full'] * settings.rounds
    const left = QUICK_LIMIT_MINUTES * settings.rounds - (performance.now() - startMs) / 60_000
    const minutes = values.quick ? Math.min(own, left) : own
    if (minutes <= 0) results.push({ part, seconds: 0, failure: `no time is left of ${QUICK_LIMIT_MINUTES} minutes` })
    else results.push(await runPart(part, settings, minutes * 60_000))
  }
  return results
}

function settingsOf(part: PartName, cluster: Kafka): Settings {
  return {
    bootstrap: cluster.bootstrap,
    kafkaPid: cluster.pid(),
    isQuick: values.quick,
    ...(values.quick ? { ...QUICK_SIZES, ...PARTS[part].quick } : SIZES),
    ...chosen,
    nodeArgs: values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`],
  }
}

/** Leaves out the options that are not given. */
function numbersOf(options: Readonly<Record<string, string | undefined>>): Readonly<Record<string, number>> {
  const given = Object.entries(options).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const numbers = given.map(([key, text]) => [key, Number(text)] as const)
  const wrong = numbers.find(([, number]) => !Number.isInteger(number) || number < 1)
  if (wrong !== undefined) {
    process.stderr.write(`--${wrong[0]} must be a positive integer: ${USAGE}\n`)
    process.exit(2)
  }
  return Object.fromEntries(numbers)
}
