import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startKafka } from '../env/kafka.ts'
import { run } from '../env/process.ts'
import { benchCdc } from './cdc/main.ts'
import { benchCheck } from './check/main.ts'
import { type Figure, toJson, toTable } from './figures.ts'
import { benchJavaPlugins } from './java-plugins/main.ts'
import { benchLog } from './log.ts'
import { benchOperator } from './operator/main.ts'
import { benchPostgres } from './postgres/main.ts'
import { benchRegistry } from './registry/main.ts'
import { progress, type Settings } from './settings.ts'
import { benchWorker } from './worker/main.ts'

const BENCHES: Readonly<Record<string, (settings: Settings) => Promise<readonly Figure[]>>> = {
  log: benchLog,
  worker: benchWorker,
  registry: benchRegistry,
  operator: benchOperator,
  postgres: benchPostgres,
  cdc: benchCdc,
  check: benchCheck,
  'java-plugins': benchJavaPlugins,
}
const USAGE = `npm run bench -- [--quick] [--records N] [--rounds N] [--objects N] [--converters LIST] [--profile DIR] [${Object.keys(BENCHES).join(' | ')} …]`
/** JVM options for production-like performance, unlike those of the tests. */
const BROKER_JVM = ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC']

/** `npm run bench`: compares rates, times and memory of Weir with those of other systems, on the same Kafka. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    records: { type: 'string' },
    rounds: { type: 'string' },
    objects: { type: 'string' },
    converters: { type: 'string' },
    profile: { type: 'string' },
  },
})
const names = positionals.length > 0 ? positionals : Object.keys(BENCHES)
const unknown = names.filter((name) => BENCHES[name] === undefined)
if (unknown.length > 0) {
  process.stderr.write(`no bench is called ${unknown.join(', ')}: ${USAGE}\n`)
  process.exit(2)
}

progress('building what people run')
const build = join(import.meta.dirname, '../../scripts/build.mjs')
const built = await run({ file: process.execPath, args: [build, '--code'], directory: '.' })
if (built.code !== 0) throw new Error(`the sources cannot be built:\n${built.stderr}`)
process.env['WEIR_CLI'] = join(import.meta.dirname, '../../dist/cli/weir.js')

const kafka = await startKafka({ jvm: BROKER_JVM })
try {
  const settings: Settings = {
    bootstrap: kafka.bootstrap,
    kafkaPid: kafka.pid(),
    records: Number(values.records ?? (values.quick ? 300_000 : 2_000_000)),
    rounds: Number(values.rounds ?? (values.quick ? 1 : 3)),
    objects: Number(values.objects ?? (values.quick ? 200 : 1_000)),
    converters: values.converters,
    nodeArgs: values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`],
  }
  const figures: Figure[] = []
  for (const name of names) figures.push(...(await BENCHES[name]!(settings)))
  progress('')
  console.log(
    `Kafka ${kafka.version}, ${settings.records} records of 100 bytes, medians of ${settings.rounds} rounds, ${availableParallelism()} cores`,
  )
  console.log(toTable(figures))
  console.log(toJson(figures))
} finally {
  await kafka.stop()
}
