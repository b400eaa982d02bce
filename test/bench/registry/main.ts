import { join } from 'node:path'
import { runClient } from '../client.ts'
import { atMost, type Figure } from '../figures.ts'
import { residentMb } from '../process.ts'
import { progress, type Settings } from '../settings.ts'
import { startBareProcess } from './bare-process.ts'
import { fillTopics, startFilled, timeToRead } from './filled-registry.ts'
import type { MeasuredLoad } from './load-client.ts'
import { startProductionRegistry } from './production-registry.ts'
import { measureRates, type Rates } from './rates.ts'
import type { RegistrationResult, RegistrationTask } from './registration-client.ts'
import { VERSIONS } from './schemas.ts'

const REGISTRATIONS = 1_000
/** Allowed memory of a registry, and for each further 100,000 schemas. */
const MEMORY_MB_PER_100_000 = 300

type Start = {
  readonly ms: number
  readonly readMs: number
  /** Resident memory after the start. */
  readonly memoryMb: number
}

/** Compares the registry with a minimal HTTP server, with Apicurio and with direct access to its topic. */
export async function benchRegistry(settings: Settings): Promise<readonly Figure[]> {
  const { schemas } = settings
  progress(`registry: filling a topic with ${schemas} schemas`)
  await fillTopics(settings, [schemas])
  const starts: Start[] = []
  for (let round = 1; round <= settings.rounds; round++) {
    progress(`registry: starts, round ${round} of ${settings.rounds}`)
    starts.push(await measureStart(settings, round))
  }
  const plain = await startFilled(settings, schemas, 'plain')
  const production = await startProductionRegistry(settings, schemas)
  try {
    const rates = await measureRates(settings, { plain: plain.url, production, schemas })
    const registrations: RegistrationResult[] = []
    for (let round = 1; round <= settings.rounds; round++) {
      progress(`registry: new schemas, round ${round} of ${settings.rounds}`)
      registrations.push(await measureRegistrations(settings, plain.url, round))
    }
    return [
      ...rateFigures('schema by id', rates.byId),
      ...rateFigures('latest version', rates.latest),
      ...rateFigures('register what is there', rates.register),
      ...registrationFigures(registrations),
      ...startFigures(starts, schemas),
    ]
  } finally {
    await plain.stop()
    await production.stop()
  }
}

/** Time from the start of the process until it is ready, including loading the code and connecting to Kafka. */
async function measureStart(settings: Settings, round: number): Promise<Start> {
  const startedMs = performance.now()
  const registry = await startFilled(settings, settings.schemas, `start-${round}`)
  const ms = performance.now() - startedMs
  const memoryMb = await residentMb(registry.pid)
  await registry.stop()
  return { ms, readMs: await timeToRead(settings, settings.schemas), memoryMb }
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

function rateFigures(operation: string, rounds: readonly Rates[]): readonly Figure[] {
  const of = (server: keyof Rates, value: keyof MeasuredLoad) => rounds.flatMap((rates) => rates[server]?.[value] ?? [])
  const rate = (name: string, ours: keyof Rates, beside: string, against: keyof Rates, aim: number): Figure => ({
    name,
    unit: 'req/s',
    ours: of(ours, 'rate'),
    against: { name: beside, values: of(against, 'rate') },
    aim,
  })
  const production = `${operation}, with TLS, BASIC and audit log`
  const figures = [
    rate(production, 'production', 'bare node:https', 'bareTls', 0.5),
    {
      name: `${production}, p99`,
      unit: 'ms' as const,
      ours: of('production', 'p99Ms'),
      against: { name: 'bare node:https', values: of('bareTls', 'p99Ms') },
      aim: 3,
    },
    rate(operation, 'plain', 'bare node:http', 'bare', 0.5),
    rate(operation, 'plain', 'Apicurio', 'apicurio', 5),
  ]
  return figures.filter(({ against }) => against.values.length > 0)
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
  return [
    {
      name: `start on ${schemas} schemas`,
      unit: 'ms',
      ours: starts.map(({ ms }) => ms),
      against: { name: 'only reading', values: starts.map(({ readMs }) => readMs) },
      aim: 3,
    },
    atMost(
      'resident memory after it',
      'MB',
      starts.map(({ memoryMb }) => memoryMb),
      MEMORY_MB_PER_100_000 * Math.max(1, schemas / 100_000),
    ),
  ]
}
