import type { LogLimits } from '../../../common/logging/log-rate-limiter.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import { entryPoint } from '../../../common/program-files.ts'
import { IsolatedProcess, type ProcessEnd } from '../isolated-process.ts'
import { pluginMemoryExceeded } from '../memory-limits.ts'
import { ProcessLog } from '../process-log.ts'
import type {
  PluginProcessCall,
  PluginProcessEnd,
  PluginProcessMessage,
  PluginProcessOptions,
} from './plugin-messages.ts'

export type PluginProcessHandlers = {
  readonly onMessage: (message: PluginProcessMessage) => void
  /** Called once, unless the process was killed through `kill`. */
  readonly onEnd: (end: PluginProcessEnd) => void
}

/** A process that runs the code of one module of plugins. */
export interface PluginProcess {
  /** The time that the process had, in ms. */
  readonly ownMs: number
  post(message: PluginProcessCall): void
  kill(): void
}

/** Throughput does not matter there. */
const SEMI_SPACE_MB = 1

export function startPluginProcess(
  { module, access, memoryMbMax, blockedMsMax, loadMsMax }: PluginProcessOptions,
  output: { readonly logger: Logger; readonly log: LogLimits },
  { onMessage, onEnd }: PluginProcessHandlers,
): PluginProcess {
  const options = { module, access }
  const started = new IsolatedProcess({
    entry: entryPoint('worker/isolation/plugins/plugin-process-main'),
    args: [JSON.stringify(options)],
    semiSpaceMb: SEMI_SPACE_MB,
    memoryMbMax,
    memoryExceeded: pluginMemoryExceeded(memoryMbMax),
    blockedMsMax,
    loadMsMax,
    log: new ProcessLog({ ...output, fields: () => ({ module }), subject: 'a plugin' }),
    onMessage: (message) => onMessage(message as PluginProcessMessage),
    onEnd: (end) => onEnd(toPluginProcessEnd(end)),
  })
  return {
    get ownMs() {
      return started.ownMs
    },
    post: (message) => started.post(message),
    kill: () => void started.end(),
  }
}

/** Node's exit code for a top-level await that can never settle. */
const UNSETTLED = 'ended its process with exit code 13'

function toPluginProcessEnd({ cause, what, key, stack }: ProcessEnd): PluginProcessEnd {
  return {
    code: cause === 'blocked' ? 'plugin_unresponsive' : 'plugin_crashed',
    what: what === UNSETTLED ? 'waits at its top level for a promise that never settles' : what,
    ...(key !== undefined && { id: Number(key) }),
    ...(stack !== undefined && { stack }),
  }
}
