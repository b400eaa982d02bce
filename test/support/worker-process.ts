import { freePort } from '../env/ports.ts'
import { type Output, run } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'
import { type Program, responds, setArgs, startWeir, weirCommand } from './cli.ts'

export type WorkerOptions = {
  /** `['--bootstrap', 'host:port']` or `['--data', directory]`. */
  readonly log: readonly string[]
  readonly groupId: string
  readonly settings?: Readonly<Record<string, string>>
  readonly nodeArgs?: readonly string[]
  /** The file of another version (`olderProgram`). */
  readonly program?: string | undefined
}
export type WeirWorker = Program & { readonly url: string }

/** On a busy machine, the code of an innocent plugin takes longer to load than a thread may be blocked by default. */
const PATIENT = { 'worker.thread.blocked.max.ms': '30000' }

/** Starts `weir worker` in a process. Waits until it is ready. */
export async function startWorkerProcess(options: WorkerOptions): Promise<WeirWorker> {
  const { url, args } = await workerArgs(options)
  const { nodeArgs = [], program } = options
  return { ...(await startWeir(args, () => responds(`${url}/readyz`), { nodeArgs, program })), url }
}

/** Runs a worker that is expected to exit without a signal. */
export async function runWorkerProcess(options: WorkerOptions): Promise<Output> {
  const { args } = await workerArgs(options)
  return run(weirCommand(partDirectory('worker'), args, options.nodeArgs))
}

async function workerArgs({ log, groupId, settings }: WorkerOptions) {
  const url = settings?.['listeners'] ?? `http://127.0.0.1:${await freePort()}`
  const args = setArgs({ listeners: url, ...PATIENT, ...storage(groupId), ...settings })
  return { url, args: ['worker', ...log, ...args] as const }
}

/** Storage topics for each group, because tests share a Kafka cluster. Named as by `startJavaConnect`. */
function storage(groupId: string): Readonly<Record<string, string>> {
  const names = { config: 'configs', offset: 'offsets', status: 'status' }
  const topics = Object.entries(names).flatMap(([kind, name]) => [
    [`${kind}.storage.topic`, `${groupId}-${name}`],
    [`${kind}.storage.replication.factor`, '1'],
  ])
  return { 'group.id': groupId, ...Object.fromEntries(topics) }
}
