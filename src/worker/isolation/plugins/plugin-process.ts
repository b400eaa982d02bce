import { type ChildProcess, fork } from 'node:child_process'
import { POSTPONED_OPTIMIZATION } from '../../../common/code-optimization.ts'
import { messageOf } from '../../../common/errors.ts'
import { entryPoint } from '../../../common/program-files.ts'
import { withCompileCache } from '../compile-cache.ts'
import type {
  PluginProcessCall,
  PluginProcessEnd,
  PluginProcessMessage,
  PluginProcessOptions,
} from './plugin-messages.ts'

export type PluginProcessHandlers = {
  readonly onMessage: (message: Exclude<PluginProcessMessage, { readonly type: 'ended' }>) => void
  /** Called once, unless the process was killed through `kill`. */
  readonly onEnd: (end: PluginProcessEnd) => void
}

/** A process that runs the code of one module of plugins. */
export interface PluginProcess {
  post(message: PluginProcessCall): void
  kill(): void
}

export function startPluginProcess(
  options: PluginProcessOptions,
  { onMessage, onEnd }: PluginProcessHandlers,
): PluginProcess {
  let isOver = false
  const end = (why: PluginProcessEnd) => {
    if (isOver) return
    isOver = true
    started.kill('SIGKILL')
    onEnd(why)
  }
  const started: ChildProcess = fork(
    entryPoint('worker/isolation/plugins/plugin-process-main'),
    [JSON.stringify(options)],
    {
      serialization: 'advanced',
      env: withCompileCache(process.env),
      // Throughput does not matter there.
      execArgv: ['--max-semi-space-size=1', ...POSTPONED_OPTIMIZATION],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    },
  )
  started.on('message', (message: PluginProcessMessage) => {
    if (isOver) return
    if (message.type === 'ended') end(message.end)
    else onMessage(message)
  })
  started.on('error', (error) =>
    end({ code: 'plugin_crashed', what: `could not be started in a process: ${messageOf(error)}` }),
  )
  // V8 aborts the process when a single allocation exceeds the heap limit.
  started.on('exit', (code, signal) => {
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`
    const why =
      signal === 'SIGABRT'
        ? `: it needed more memory than ${options.memoryMbMax} MB (worker.plugin.memory.mb), or native code aborted`
        : ''
    end({ code: 'plugin_crashed', what: `ended its process with ${how}${why}` })
  })
  return {
    // Errors are ignored: the 'exit' event reports that the process has ended.
    post: (message) => void (started.connected && started.send(message, () => undefined)),
    kill: () => {
      isOver = true
      started.kill('SIGKILL')
    },
  }
}
