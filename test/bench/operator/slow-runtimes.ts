import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openKubernetesApi } from '../../../src/clients/kubernetes/kubernetes-api.ts'
import type { Kubernetes } from '../../env/kubernetes.ts'
import { partDirectory } from '../../env/workspace.ts'
import { startWeir } from '../../support/cli.ts'
import { type FaultyProxy, openFaultyProxy } from '../../support/faulty-proxy-server.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'
import type { Figure } from '../figures.ts'
import { progress, type Settings } from '../settings.ts'
import type { Declared } from './objects.ts'
import { Place } from './place.ts'

const WORKERS = 200
/** Number of connectors that are changed at once on each of the two faulty workers. */
const CHANGES_IN_TROUBLE = 30
/** Number of changes on each of the other workers. More than one, so that p99 does not depend on a single outlier. */
const CHANGES_PER_WORKER = 2
/** Number of concurrent changes on the other workers. */
const CONCURRENT_CHANGES = 2
const READY_LIMIT_MS = 180_000
/** Maximum ratio of the p99 with two faulty workers to the p99 without. */
const RATIO_MAX = 1.1

type Side = 'healthy' | 'in trouble'

/**
 * Measures the time from a change to Ready on 198 of 200 workers: once while the other two respond normally, and once
 * while one of them does not respond and the other responds after 9 s, each with 30 changed connectors. All 200
 * addresses are proxies of one real worker, so that the operator is measured. Both cases alternate on one operator.
 */
export async function benchSlowRuntimes(settings: Settings, control: Kubernetes): Promise<readonly Figure[]> {
  const { bootstrap, rounds } = settings
  const log = ['--bootstrap', bootstrap]
  const worker = await startWorkerProcess({ log, groupId: `bench-slow-${process.pid}` })
  const proxies = await Promise.all(Array.from({ length: WORKERS }, () => openFaultyProxy({ url: worker.url })))
  const [slow, silent] = [proxies[0]!, proxies[1]!]
  const api = openKubernetesApi(control.kubeconfig)
  const place = new Place(api, 'bench-slow')
  const programs = [worker]
  try {
    await place.open()
    const operator = await startWeir(['operator', ...operatorArgs(control, place, proxies)], () => true)
    programs.unshift({ ...operator, url: '' })
    const inTrouble = Array.from({ length: 2 * CHANGES_IN_TROUBLE }, (_, number) => number)
    const others = Array.from({ length: WORKERS - 2 }, (_, number) => number + 2)
    const declareAll = (round: string) =>
      place.declareAll(inTrouble.map((number) => connector(`trouble-${number}`, number % 2, round)))
    progress(`operator: ${WORKERS} workers`)
    await declareAll('first')
    await place.declareAll(others.map((number) => connector(`other-${number}`, number, 'first')))
    await place.untilAllReady(inTrouble.length + others.length, READY_LIMIT_MS, (ready, ms) =>
      progress(`  ${ready} are Ready after ${Math.round(ms)} ms`),
    )
    const p50: Record<Side, number[]> = { healthy: [], 'in trouble': [] }
    const p99: Record<Side, number[]> = { healthy: [], 'in trouble': [] }
    for (let round = 1; round <= rounds; round++) {
      for (const side of ['healthy', 'in trouble'] as const) {
        slow.behave(side === 'healthy' ? 'well' : 'responds after 9 s')
        silent.behave(side === 'healthy' ? 'well' : 'does not respond')
        await declareAll(`${round}-${side}`)
        const times = await timesToReady(place, others, `${round}-${side}`)
        p50[side].push(percentile(times, 0.5))
        p99[side].push(percentile(times, 0.99))
        progress(
          `  ${side}, round ${round} of ${rounds}: p50 ${p50[side].at(-1)!.toFixed(0)} ms, p99 ${p99[side].at(-1)!.toFixed(0)} ms`,
        )
        slow.behave('well')
        silent.behave('well')
        await place.untilAllReady(inTrouble.length + others.length, READY_LIMIT_MS, () => undefined)
      }
    }
    return [figure('p50', p50['in trouble'], p50.healthy), figure('p99', p99['in trouble'], p99.healthy)]
  } finally {
    place.close()
    for (const program of programs) await program.stop()
    for (const proxy of proxies) proxy.stop()
    api.close()
  }
}

function operatorArgs(control: Kubernetes, place: Place, proxies: readonly FaultyProxy[]): readonly string[] {
  const workers = proxies.map(({ url }, number) => ({
    name: `worker-${number}`,
    url,
    allowedNamespaces: { from: 'All' },
  }))
  const path = join(partDirectory('slow-runtimes'), 'operator.yaml')
  writeFileSync(path, JSON.stringify({ apiVersion: 'config.weir.dev/v1alpha1', kind: 'OperatorConfig', workers }))
  const { namespace } = place
  return [
    ...['--config', path, '--kubeconfig', control.kubeconfig],
    ...['--namespace', namespace, '--lease-namespace', namespace],
  ]
}

/** Times in ms, ascending, of `CHANGES_PER_WORKER` changes on each worker. The changes of one worker are sequential. */
async function timesToReady(place: Place, workers: readonly number[], round: string): Promise<readonly number[]> {
  const left = Array.from({ length: CHANGES_PER_WORKER }, (_, change) =>
    workers.map((number) => connector(`other-${number}`, number, `${round}-${change}`)),
  ).flat()
  const times: number[] = []
  const changeRest = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) times.push(await place.timeToReady(next))
  }
  await Promise.all(Array.from({ length: CONCURRENT_CHANGES }, changeRest))
  return times.toSorted((left, right) => left - right)
}

function connector(name: string, worker: number, round: string): Declared {
  const config = { file: '/nowhere', topic: `${name}-${round.replace(' ', '-')}` }
  return {
    kind: 'Connector',
    name,
    spec: { class: 'FileStreamSource', config, workerRef: { name: `worker-${worker}` } },
  }
}

function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.ceil(ascending.length * share) - 1]!
}

function figure(percent: string, ours: readonly number[], values: readonly number[]): Figure {
  const name = `change to Ready beside a silent and a slow worker, ${percent}`
  return { name, unit: 'ms', ours, against: { name: 'without them', values }, aim: RATIO_MAX }
}
