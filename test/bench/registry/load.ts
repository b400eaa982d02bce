import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { partDirectory } from '../../env/workspace.ts'
import { runClient } from '../client.ts'
import type { Call, LoadTarget, LoadTask, MeasuredLoad } from './load-client.ts'

/** Enough to saturate the server, also on two cores. */
const CONNECTIONS = 32
/** With 1 s, V8 still compiled the code of the registry: 22,000 reads/s instead of 48,000. */
const WARM_UP_MS = 4_000
const DURATION_MS = 300
const ROUNDS = 5

/** Requests for `measureLoads`, stored in a file. */
export type Load = { readonly requestsFile: string }

export function createLoad(calls: readonly Call[]): Load {
  const requestsFile = join(partDirectory('load'), 'requests.json')
  writeFileSync(requestsFile, JSON.stringify(calls))
  return { requestsFile }
}

/** Measures servers in turn, with a load generator in a separate process. */
export function measureLoads(targets: readonly LoadTarget[]): Promise<readonly MeasuredLoad[]> {
  const script = join(import.meta.dirname, 'load-client.ts')
  const task = { targets, connections: CONNECTIONS, warmUpMs: WARM_UP_MS, durationMs: DURATION_MS, rounds: ROUNDS }
  return runClient<LoadTask, readonly MeasuredLoad[]>(script, task)
}
