import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { findApicurio, startApicurio } from '../../env/apicurio.ts'
import { partDirectory } from '../../env/workspace.ts'
import { progress, type Settings } from '../settings.ts'
import { startBareProcess } from './bare-process.ts'
import type { BareAnswers } from './bare-server.ts'
import { createLoad, measureLoads } from './load.ts'
import type { Call, MeasuredLoad } from './load-client.ts'
import type { ProductionRegistry } from './production-registry.ts'
import { schemaText, subjectOf, VERSIONS } from './schemas.ts'

const OPERATIONS = { byId: callById, latest: callLatest, register: callRegister }
export type Operation = keyof typeof OPERATIONS

/** What was measured of one operation in one round. */
export type Rates = {
  readonly plain: MeasuredLoad
  readonly bare: MeasuredLoad
  /** With TLS, BASIC authentication and the audit log. */
  readonly production: MeasuredLoad
  readonly bareTls: MeasuredLoad
  readonly apicurio: MeasuredLoad | undefined
}

export type Registries = { readonly plain: string; readonly production: ProductionRegistry; readonly schemas: number }

/** Number of different schemas that are requested, evenly distributed. */
const SAMPLE = 1_000

/** Each server runs during the whole measurement. */
export async function measureRates(
  settings: Settings,
  { plain, production, schemas }: Registries,
): Promise<Readonly<Record<Operation, readonly Rates[]>>> {
  const ids = Array.from({ length: SAMPLE }, (_, at) => 1 + Math.floor((at * schemas) / SAMPLE))
  const calls = Object.values(OPERATIONS).flatMap((callOf) => ids.map(callOf))
  const answersFile = join(partDirectory('bare-answers'), 'answers.json')
  writeFileSync(answersFile, JSON.stringify(await answersOf(plain, calls)))
  const bareScript = join(import.meta.dirname, 'bare-server.ts')
  const bare = await startBareProcess(bareScript, [answersFile])
  const bareTls = await startBareProcess(bareScript, [answersFile, production.certificateFile], 'https')
  const apicurio = await startFilledApicurio(ids)
  const measure = async (operation: Operation): Promise<Rates> => {
    const load = createLoad(ids.map(OPERATIONS[operation]))
    const authenticated = createLoad(ids.map(OPERATIONS[operation]).map(production.authenticated))
    // HTTP and HTTPS are measured apart, so that each is measured at the same time as what it is compared with.
    const [bareLoad, plainLoad] = await measureLoads([
      { url: bare.url, ...load },
      { url: plain, ...load },
    ])
    const [bareTlsLoad, productionLoad] = await measureLoads([
      { url: bareTls.url, ...authenticated },
      { url: production.url, ...authenticated },
    ])
    const [apicurioLoad] = apicurio ? await measureLoads([{ url: apicurio.url, ...apicurio[operation] }]) : []
    return {
      bare: bareLoad!,
      plain: plainLoad!,
      bareTls: bareTlsLoad!,
      production: productionLoad!,
      apicurio: apicurioLoad,
    }
  }
  const rates: Record<Operation, Rates[]> = { byId: [], latest: [], register: [] }
  try {
    for (let round = 1; round <= settings.rounds; round++) {
      progress(`registry: answers, round ${round} of ${settings.rounds}`)
      for (const operation of Object.keys(OPERATIONS) as Operation[]) rates[operation].push(await measure(operation))
    }
  } finally {
    await bare.server.kill()
    await bareTls.server.kill()
    await apicurio?.stop()
  }
  return rates
}

function callById(id: number): Call {
  return { method: 'GET', path: `/schemas/ids/${id}` }
}

function callLatest(id: number): Call {
  return { method: 'GET', path: `/subjects/${subjectOf(id)}/versions/latest` }
}

function callRegister(id: number): Call {
  const subject = subjectOf(id)
  const body = JSON.stringify({ schema: schemaText(subject, VERSIONS) })
  return {
    method: 'POST',
    path: `/subjects/${subject}/versions`,
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body,
  }
}

// ── beside ──────────────────────────────────────────────────────────────────────────────────────────────────────────

async function answersOf(url: string, calls: readonly Call[]): Promise<BareAnswers> {
  const answers: Record<string, BareAnswers[string]> = {}
  for (const { method, path, headers, body } of calls) {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(headers && { headers }),
      ...(body && { body }),
    } as RequestInit)
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`)
    answers[`${method} ${path}`] = { type: response.headers.get('content-type') ?? '', body: await response.text() }
  }
  return answers
}

/** Starts Apicurio and registers the sampled schemas; undefined if this machine cannot run it. */
async function startFilledApicurio(ids: readonly number[]) {
  const found = await findApicurio()
  if (found.how === 'missing') {
    progress(`registry: without Apicurio, because ${found.detail}`)
    return undefined
  }
  const { url, stop } = await startApicurio()
  const client = createRegistryClient({ url })
  const given: number[] = []
  for (const id of ids) {
    const subject = subjectOf(id)
    given.push((await client.register(subject, { schema: schemaText(subject, VERSIONS) })).id)
  }
  const { origin, pathname } = new URL(url)
  const within = (call: Call): Call => ({ ...call, path: `${pathname}${call.path}` })
  return {
    url: origin,
    byId: createLoad(given.map(callById).map(within)),
    latest: createLoad(ids.map(callLatest).map(within)),
    register: createLoad(ids.map(callRegister).map(within)),
    stop,
  }
}
