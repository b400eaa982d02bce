import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../env/ports.ts'
import { partDirectory } from '../../env/workspace.ts'
import { type Program, responds, setArgs, startWeir } from '../../support/cli.ts'
import { totalCpuMs } from '../process.ts'
import type { Settings } from '../settings.ts'

const CHECKOUT = join(import.meta.dirname, '../../..')

/** A program that is ready. */
export type StartedProgram = {
  readonly program: Program
  readonly readyMs: number
  /** CPU time of all its processes until then. */
  readonly readyCpuMs: number
}

export async function startRegistryAlone({ bootstrap }: Settings): Promise<StartedProgram> {
  const url = `http://127.0.0.1:${await freePort()}`
  const name = `_schemas-start-${Math.round(performance.now())}`
  const args = setArgs({
    listeners: url,
    'brokerstore.topic': name,
    'schema.registry.group.id': name,
    'brokerstore.topic.replication.factor': '1',
  })
  return timed(() => startWeir(['registry', '--bootstrap', bootstrap, ...args], () => responds(`${url}/readyz`)))
}

export async function startWorkerAlone({ bootstrap }: Settings): Promise<StartedProgram> {
  const url = `http://127.0.0.1:${await freePort()}`
  const name = `start-${Math.round(performance.now())}`
  const storage = ['config', 'offset', 'status'].flatMap((kind) => [
    [`${kind}.storage.topic`, `${name}-${kind}`],
    [`${kind}.storage.replication.factor`, '1'],
  ])
  const args = setArgs({ listeners: url, 'group.id': name, ...Object.fromEntries(storage) })
  return timed(() => startWeir(['worker', '--bootstrap', bootstrap, ...args], () => responds(`${url}/readyz`)))
}

/** `weir up` of the quickstart, in a directory with the files that it copies. It is ready when both runtimes listen. */
export async function startQuickstart(nodeArgs: readonly string[] = []): Promise<StartedProgram> {
  const directory = partDirectory('quickstart')
  for (const path of ['README.md', 'examples/quickstart'])
    cpSync(join(CHECKOUT, path), join(directory, path), { recursive: true })
  const ports = ['--registry-port', '0', '--worker-port', '0', '--console-port', '0']
  const args = ['up', 'examples/quickstart', '--data', join(directory, 'data'), ...ports] as const
  const isListening = (logFile: string) => readFileSync(logFile, 'utf8').match(/"msg":"listening"/g)?.length === 2
  return timed(() => startWeir(args, isListening, { directory, nodeArgs }))
}

async function timed(start: () => Promise<Program>): Promise<StartedProgram> {
  const startMs = performance.now()
  const program = await start()
  const readyMs = performance.now() - startMs
  return { program, readyMs, readyCpuMs: await totalCpuMs(program.pid) }
}
