import { freePort } from '../env/ports.ts'
import { type Program, responds, setArgs, startWeir } from './cli.ts'

export type RegistryProcess = Program & { readonly url: string }

/**
 * Starts `weir registry` in a process. `log` is `['--bootstrap', 'host:port']` or `['--data', directory]`; `program` is the
 * file of another version (`olderProgram`).
 */
export async function startRegistryProcess(
  log: readonly string[],
  settings: Readonly<Record<string, string>>,
  nodeArgs: readonly string[] = [],
  program?: string,
): Promise<RegistryProcess> {
  const url = settings['listeners']?.split(',')[0] ?? `http://127.0.0.1:${await freePort()}`
  const all = { listeners: url, 'brokerstore.topic.replication.factor': '1', ...settings }
  const args = ['registry', ...log, ...setArgs(all)] as const
  return { ...(await startWeir(args, () => responds(`${url}/readyz`), { nodeArgs, program })), url }
}
