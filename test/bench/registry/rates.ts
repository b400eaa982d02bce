import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { findApicurio, startApicurio } from '../../env/apicurio.ts'
import type { Server } from '../../env/process.ts'
import { partDirectory } from '../../env/workspace.ts'
import { progress, type Settings } from '../settings.ts'
import { startBareProcess } from './bare-process.ts'
import type { BareAnswers } from './bare-server.ts'
import { createLoad, type Load, measureLoads } from './load.ts'
import type { Call, LoadTarget, MeasuredLoad } from './load-client.ts'
import { schemaText, subjectOf, VERSIONS } from './schemas.ts'

/** What was measured in one round. */
export type Rates = Readonly<Record<keyof Loads | BareLoad | 'tenthById', MeasuredLoad>> &
  Readonly<Partial<Record<ApicurioLoad, MeasuredLoad>>>
type BareLoad = 'bareById' | 'bareLatest' | 'bareRegister'
type ApicurioLoad = 'apicurioById' | 'apicurioLatest'
type Loads = { readonly byId: Load; readonly latest: Load; readonly register: Load }

type Address = Pick<LoadTarget, 'url' | 'pid'>
export type Registries = {
  readonly whole: Address
  /** A registry with only the first tenth of the schemas. */
  readonly tenth: Address
  readonly schemas: number
}

/** Number of different schemas that are requested, evenly distributed. */
const SAMPLE = 1_000

/** Each server runs during the whole measurement. */
export async function measureRates(
  settings: Settings,
  { whole, tenth, schemas }: Registries,
): Promise<readonly Rates[]> {
  const ids = sampleOf(schemas)
  const calls = { byId: ids.map(callById), latest: ids.map(callLatest), register: ids.map(callRegister) }
  const loads: Loads = {
    byId: createLoad(calls.byId),
    latest: createLoad(calls.latest),
    register: createLoad(calls.register),
  }
  const tenthById = createLoad(sampleOf(schemas / 10).map(callById))
  const bare = await startBare(await answersOf(whole.url, Object.values(calls).flat()))
  const apicurio = await startFilledApicurio(ids)
  const rounds: Rates[] = []
  try {
    for (let round = 1; round <= settings.rounds; round++) {
      progress(`registry: answers, round ${round} of ${settings.rounds}`)
      rounds.push({
        ...(await measure({
          bareById: { ...bare.address, ...loads.byId },
          byId: { ...whole, ...loads.byId },
          tenthById: { ...tenth, ...tenthById },
        })),
        ...(await measure({
          bareLatest: { ...bare.address, ...loads.latest },
          latest: { ...whole, ...loads.latest },
        })),
        ...(await measure({
          bareRegister: { ...bare.address, ...loads.register },
          register: { ...whole, ...loads.register },
        })),
        ...(apicurio &&
          (await measure({
            apicurioById: { url: apicurio.url, pid: undefined, ...apicurio.byId },
            apicurioLatest: { url: apicurio.url, pid: undefined, ...apicurio.latest },
          }))),
      })
    }
  } finally {
    await bare.server.kill()
    await apicurio?.stop()
  }
  return rounds
}

/** Measures servers in turn, each in a separate process. */
async function measure<Name extends string>(
  targets: Readonly<Record<Name, LoadTarget>>,
): Promise<Readonly<Record<Name, MeasuredLoad>>> {
  const loads = await measureLoads(Object.values(targets))
  return Object.fromEntries(Object.keys(targets).map((name, at) => [name, loads[at]!])) as Record<Name, MeasuredLoad>
}

function sampleOf(schemas: number): readonly number[] {
  return Array.from({ length: SAMPLE }, (_, at) => 1 + Math.floor((at * schemas) / SAMPLE))
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

async function startBare(answers: BareAnswers): Promise<{ readonly address: Address; readonly server: Server }> {
  const file = join(partDirectory('bare-answers'), 'answers.json')
  writeFileSync(file, JSON.stringify(answers))
  const { url, server } = await startBareProcess(join(import.meta.dirname, 'bare-server.ts'), [file])
  return { address: { url, pid: server.pid }, server }
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
    stop,
  }
}
