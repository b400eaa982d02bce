import { setTimeout as delay } from 'node:timers/promises'
import { openKubernetesApi } from '../../../src/clients/kubernetes/kubernetes-api.ts'
import type { Kubernetes } from '../../env/kubernetes.ts'
import { freePort } from '../../env/ports.ts'
import { type Program, startWeir } from '../../support/cli.ts'
import { kubeApi } from '../../support/kube-api.ts'
import { startRegistryProcess } from '../../support/registry-process.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'
import { cpuMs } from '../process.ts'
import { progress, type Settings } from '../settings.ts'
import { apiCalls, type Calls, difference, runtimeCalls } from './calls.ts'
import { objectsOf } from './objects.ts'
import { Place } from './place.ts'

const STOP_MS = 30_000
/** Timeout: ten times the allowed time. */
const LIMIT_MS_PER_OBJECT = 120
const LIMIT_MS_MIN = 60_000

/** CPU time in ms by process, such as `operator`. */
export type Cpu = Readonly<Record<string, number>>

/** Time, CPU time and calls between two points in time. */
export type Spent = { readonly ms: number; readonly cpu: Cpu; readonly api: Calls; readonly runtimes: Calls }

/** A running operator whose declared resources are all Ready. */
export type World = {
  /** From the start of the operator until all resources are Ready. */
  readonly start: Spent
  readonly operator: Program
  readonly place: Place
  /** Starts a measurement. The returned function ends it. */
  spending(): Promise<() => Promise<Spent>>
  stop(): Promise<void>
}

/** Declares all resources, then starts an operator with two empty runtimes and waits until all resources are Ready. */
export async function startWorld(settings: Settings, control: Kubernetes, count: number, name: string): Promise<World> {
  const api = openKubernetesApi(control.kubeconfig)
  const place = new Place(api, `bench-${name}`)
  const log = ['--bootstrap', settings.bootstrap]
  const topics = { 'brokerstore.topic': `bench-${name}`, 'schema.registry.group.id': `bench-${name}` }
  const registry = await startRegistryProcess(log, topics)
  const worker = await startWorkerProcess({ log, groupId: `bench-${name}-worker` })
  const programs: Program[] = [worker, registry]
  const stop = async () => {
    place.close()
    for (const program of [...programs]) await Promise.race([program.stop(), delay(STOP_MS, undefined, { ref: false })])
    api.close()
  }
  const pids: Record<string, number | undefined> = {
    'API server': control.pid,
    etcd: control.etcdPid,
    registry: registry.pid,
    worker: worker.pid,
    Kafka: settings.kafkaPid,
  }
  const listener = `http://127.0.0.1:${await freePort()}`
  const spending = async () => {
    const beganMs = performance.now()
    const before = await reading(pids, control, pids['operator'] && listener)
    return async (): Promise<Spent> => {
      const ms = performance.now() - beganMs
      const after = await reading(pids, control, listener)
      const cpu = Object.entries(after.cpu).map(([part, spentMs]) => [part, spentMs - (before.cpu[part] ?? 0)])
      return {
        ms,
        cpu: Object.fromEntries(cpu),
        api: difference(after.api, before.api),
        runtimes: difference(after.runtimes, before.runtimes),
      }
    }
  }
  try {
    await place.open()
    const declaredMs = performance.now()
    await place.declareAll(objectsOf(count))
    progress(`  declared in ${seconds(performance.now() - declaredMs)}`)
    const spent = await spending()
    const args = [
      ...['--kubeconfig', control.kubeconfig, '--namespace', place.namespace, '--lease-namespace', place.namespace],
      ...['--registry', registry.url, '--worker', worker.url, '--monitoring', listener],
    ]
    const operator = await startWeir(['operator', ...args], () => true)
    pids['operator'] = operator.pid
    programs.unshift(operator)
    await place.untilAllReady(count, Math.max(LIMIT_MS_MIN, count * LIMIT_MS_PER_OBJECT), (ready, ms) =>
      progress(`  ${ready} of ${count} are Ready after ${seconds(ms)}`),
    )
    return { start: await spent(), operator, place, spending, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function reading(
  pids: Readonly<Record<string, number | undefined>>,
  control: Kubernetes,
  monitoring: string | undefined | 0,
) {
  const cpu = Object.entries(pids).map(async ([part, pid]) => [part, pid === undefined ? 0 : await cpuMs(pid)])
  return {
    cpu: Object.fromEntries(await Promise.all(cpu)) as Cpu,
    api: await apiCalls(kubeApi(control)),
    runtimes: monitoring ? await runtimeCalls(`${monitoring}/metrics`) : (new Map() as Calls),
  }
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
