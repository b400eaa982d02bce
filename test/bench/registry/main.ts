import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { runClient } from '../client.ts'
import { atMost, type Figure } from '../figures.ts'
import { residentMb } from '../process.ts'
import { progress, type Settings } from '../settings.ts'
import { startBareProcess } from './bare-process.ts'
import { fillTopics, startFilled, timeToRead } from './filled-registry.ts'
import { measureRates, type Rates } from './rates.ts'
import type { RegistrationResult, RegistrationTask } from './registration-client.ts'
import { VERSIONS } from './schemas.ts'

const REGISTRATIONS = 1_000
/** Allowed memory of a registry, and for each further 100,000 schemas. */
const MEMORY_MB_PER_100_000 = 200

type Start = {
  readonly wholeMs: number
  /** Time until the index of contents by GUID is complete. Registrations wait for it. */
  readonly indexedMs: number
  readonly tenthMs: number
  readonly readMs: number
  /** Resident memory when that index is complete. */
  readonly memoryMb: number
}

/** Compares the registry with a minimal HTTP server, with Apicurio and with direct access to its topic. */
export async function benchRegistry(settings: Settings): Promise<readonly Figure[]> {
  const { schemas } = settings
  progress(`registry: filling topics with ${schemas} and ${schemas / 10} schemas`)
  await fillTopics(settings, [schemas, schemas / 10])
  const starts: Start[] = []
  for (let round = 1; round <= settings.rounds; round++) {
    progress(`registry: starts, round ${round} of ${settings.rounds}`)
    starts.push(await measureStarts(settings, round))
  }
  const whole = await startFilled(settings, schemas, 'whole')
  const tenth = await startFilled(settings, schemas / 10, 'tenth')
  try {
    const rates = await measureRates(settings, { whole, tenth, schemas })
    const registrations: RegistrationResult[] = []
    for (let round = 1; round <= settings.rounds; round++) {
      progress(`registry: new schemas, round ${round} of ${settings.rounds}`)
      registrations.push(await measureRegistrations(settings, whole.url, round))
    }
    return [...rateFigures(rates), ...registrationFigures(registrations), ...startFigures(starts, schemas)]
  } finally {
    await whole.stop()
    await tenth.stop()
  }
}

/** Times from the start of each process to the end of its work, including loading the code and connecting to Kafka. */
async function measureStarts(settings: Settings, round: number): Promise<Start> {
  const timedStart = async (count: number) => {
    const startedMs = performance.now()
    const registry = await startFilled(settings, count, `start-${count}-${round}`)
    const ms = performance.now() - startedMs
    // The response to a look-up by GUID waits for the index of contents.
    await (await fetch(`${registry.url}/schemas/guids/${randomUUID()}`)).text()
    const indexedMs = performance.now() - startedMs
    const memoryMb = await residentMb(registry.pid)
    await registry.stop()
    return { ms, indexedMs, memoryMb }
  }
  const tenth = await timedStart(settings.schemas / 10)
  const whole = await timedStart(settings.schemas)
  const readMs = await timeToRead(settings, settings.schemas)
  const { indexedMs, memoryMb } = whole
  return { wholeMs: whole.ms, indexedMs, tenthMs: tenth.ms, readMs, memoryMb }
}

async function measureRegistrations(settings: Settings, url: string, round: number): Promise<RegistrationResult> {
  const { bootstrap } = settings
  const bareScript = join(import.meta.dirname, 'bare-registration-server.ts')
  const bare = await startBareProcess(bareScript, [bootstrap, `bare-${round}`])
  try {
    // Each round registers new versions of other subjects.
    const firstId = 1 + (round - 1) * 2 * REGISTRATIONS * VERSIONS
    const task = { url, bareUrl: bare.url, bootstrap, topic: `beside-${round}`, times: REGISTRATIONS, firstId }
    const script = join(import.meta.dirname, 'registration-client.ts')
    return await runClient<RegistrationTask, RegistrationResult>(script, task)
  } finally {
    await bare.server.kill()
  }
}

// ── figures ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function rateFigures(rates: readonly Rates[]): readonly Figure[] {
  const figure = (name: string, ours: keyof Rates, beside: string, against: keyof Rates, aim: number): Figure[] => {
    const values = rates.flatMap((rate) => rate[against]?.rate ?? [])
    if (values.length === 0) return []
    const mine = rates.flatMap((rate) => rate[ours]?.rate ?? [])
    return [{ name, unit: 'req/s', ours: mine, against: { name: beside, values }, aim }]
  }
  // The rate depends on how the system schedules server and load generator; the CPU time hardly does.
  const cpuTime = (name: string, ours: keyof Rates, against: keyof Rates): Figure => ({
    name: `CPU time: ${name}`,
    unit: 'µs',
    ours: rates.flatMap((rate) => rate[ours]?.cpuUs ?? []),
    against: { name: 'bare node:http', values: rates.flatMap((rate) => rate[against]?.cpuUs ?? []) },
    aim: 1 / 0.9,
  })
  return [
    ...figure('schema by id', 'byId', 'bare node:http', 'bareById', 0.9),
    cpuTime('schema by id', 'byId', 'bareById'),
    ...figure('schema by id', 'byId', 'Apicurio', 'apicurioById', 10),
    ...figure('latest version', 'latest', 'bare node:http', 'bareLatest', 0.9),
    cpuTime('latest version', 'latest', 'bareLatest'),
    ...figure('latest version', 'latest', 'Apicurio', 'apicurioLatest', 10),
    ...figure('register what is there', 'register', 'bare node:http', 'bareRegister', 0.5),
    // Requests per connection are sequential, so the latency is the number of connections divided by this rate.
    ...figure('schema by id, 10× the schemas', 'byId', 'a tenth', 'tenthById', 1 / 1.1),
  ]
}

function registrationFigures(results: readonly RegistrationResult[]): readonly Figure[] {
  const ours = results.map(({ registerMs }) => registerMs)
  const produceMs = results.map((result) => result.produceMs)
  const bareMs = results.map((result) => result.bareMs)
  const figure = (beside: string, values: readonly number[]): Figure => ({
    name: 'new version, p99',
    unit: 'ms',
    ours,
    against: { name: beside, values },
    aim: 1.5,
  })
  return [figure('produce, p99', produceMs), figure('bare node:http that writes and reads back, p99', bareMs)]
}

function startFigures(starts: readonly Start[], schemas: number): readonly Figure[] {
  const timesOf = (key: 'wholeMs' | 'indexedMs' | 'tenthMs' | 'readMs') => starts.map((start) => start[key])
  const figure = (name: string, ours: readonly number[], against: Figure['against'], aim: number): Figure => ({
    name,
    unit: 'ms',
    ours,
    against,
    aim,
  })
  const reading = { name: 'only reading', values: timesOf('readMs') }
  const name = `start on ${schemas} schemas`
  return [
    figure(name, timesOf('wholeMs'), reading, 2),
    figure(`${name}, until it registers others`, timesOf('indexedMs'), reading, 2),
    figure(name, timesOf('wholeMs'), { name: `start on ${schemas / 10}`, values: timesOf('tenthMs') }, 11),
    atMost(
      'resident memory after it',
      'MB',
      starts.map(({ memoryMb }) => memoryMb),
      MEMORY_MB_PER_100_000 * Math.max(1, schemas / 100_000),
    ),
  ]
}
