import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { createWorkerClient, type WorkerClient } from '../../src/clients/worker-client.ts'
import { until } from './until.ts'
import { startWorkerProcess, type WeirWorker } from './worker-process.ts'

export const WAIT = { everyMs: 50, timeoutMs: 120_000 }

/** Worker processes of one group. They are stopped at the end of the test. */
export class WorkerGroup {
  readonly id = `workers-${randomUUID()}`
  readonly workers: WeirWorker[] = []
  readonly #bootstrap: string
  readonly #settings: Readonly<Record<string, string>>

  constructor(bootstrap: string, settings: Readonly<Record<string, string>> = {}) {
    this.#bootstrap = bootstrap
    this.#settings = settings
    onTestFinished(async () => {
      await Promise.all(this.workers.map((worker) => worker.kill()))
    })
  }

  async start(count: number): Promise<readonly WeirWorker[]> {
    const started: WeirWorker[] = []
    for (let at = 0; at < count; at++) started.push(await this.startOne())
    return started
  }

  async startOne(): Promise<WeirWorker> {
    const worker = await startWorkerProcess({
      log: ['--bootstrap', this.#bootstrap],
      groupId: this.id,
      settings: this.#settings,
    })
    this.workers.push(worker)
    return worker
  }

  /** Removes a worker from the list without stopping it. */
  forget(worker: WeirWorker): void {
    this.workers.splice(this.workers.indexOf(worker), 1)
  }
}

export function clientOf({ url }: WeirWorker): WorkerClient {
  return createWorkerClient({ url, timeoutMs: 20_000 })
}

/** Number of running tasks of a connector by worker (`host:port`). */
export async function runningTasksByWorker(
  worker: WeirWorker,
  connector: string,
): Promise<Readonly<Record<string, number>>> {
  const { tasks } = await clientOf(worker).status(connector)
  const places: Record<string, number> = {}
  for (const { state, worker_id: place } of tasks) if (state === 'RUNNING') places[place] = (places[place] ?? 0) + 1
  return places
}

/** Waits until the expected number of tasks runs on each worker. */
export async function untilRunning(
  asked: WeirWorker,
  connector: string,
  expected: readonly (readonly [worker: WeirWorker, tasks: number])[],
): Promise<void> {
  const wanted = expected.map(([{ url }, tasks]) => [new URL(url).host, tasks] as const)
  await until(`${connector} to run as ${JSON.stringify(wanted)}`, WAIT, async () => {
    const places = await runningTasksByWorker(asked, connector).catch(() => ({}) as Record<string, number>)
    return Object.keys(places).length === wanted.length && wanted.every(([host, tasks]) => places[host] === tasks)
  })
}

/** Number of records polled on this worker, by task. */
export async function polledOn({ url }: WeirWorker, connector: string): Promise<ReadonlyMap<number, number>> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const line = new RegExp(
    `^kafka_connect_source_task_metrics_source_record_poll_total\\{connector="${connector}",task="(\\d+)"\\} (\\d+)$`,
    'gm',
  )
  return new Map([...metrics.matchAll(line)].map(([, task, count]) => [Number(task), Number(count)]))
}
