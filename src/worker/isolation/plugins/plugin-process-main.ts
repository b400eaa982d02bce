import { flushCompileCache } from 'node:module'
import { Worker } from 'node:worker_threads'
import { postponeOptimization } from '../../../common/code-optimization.ts'
import { entryPoint } from '../../../common/program-files.ts'
import { heapLimits, isHeapExhausted, pluginMemoryExceeded, ResidentLimit } from '../memory-limits.ts'
import { raiseOomScore } from '../oom-score.ts'
import { diagnoseThread } from '../thread-diagnosis.ts'
import { ThreadHeartbeat } from '../thread-heartbeat.ts'
import { LineOutput } from './line-output.ts'
import type {
  PluginProcessCall,
  PluginProcessEnd,
  PluginProcessMessage,
  PluginProcessOptions,
  PluginThreadData,
} from './plugin-messages.ts'

// Entry point of the process that `plugin-process.ts` starts for one module of plugins. Plugin code runs in a second thread; this
// one forwards messages, and ends the process when that thread blocks, uses too much memory or ends, or when the worker
// has exited.

const CHECK_INTERVAL_MS = 100
const THREAD_NAME = 'plugins'
/** Node's exit code for a top-level await that can never settle. */
const UNSETTLED_AWAIT = 13

postponeOptimization()
process.title = 'weir plugins'
const options = JSON.parse(process.argv[2] ?? '') as PluginProcessOptions
const heartbeat = new ThreadHeartbeat()
const data: PluginThreadData = { module: options.module, access: options.access, heartbeat: heartbeat.buffer }
const thread = new Worker(entryPoint('worker/isolation/plugins/plugin-thread-main'), {
  name: THREAD_NAME,
  // Programs that a plugin starts do not inherit the options of this process.
  execArgv: [],
  workerData: data,
  resourceLimits: heapLimits(options.memoryMbMax),
  stdout: true,
  stderr: true,
})
const output = new LineOutput((lines, dropped) => send({ type: 'output', lines, dropped }))
const limit = new ResidentLimit(options.memoryMbMax)
const startedMs = performance.now()
let isEnding = false

// A terminal sends Ctrl-C to all processes of the group; the worker decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', die)
process.on('message', (message: PluginProcessCall) => thread.postMessage(message))
thread.on('message', (message: PluginProcessMessage) => {
  if (message.type === 'ended') return end(message.end)
  if (!isEnding) send(message)
  return undefined
})
for (const stream of [thread.stdout, thread.stderr])
  stream.setEncoding('utf8').on('data', (text: string) => output.write(text))
thread.on('error', (error: unknown) => {
  const what = isHeapExhausted(error) ? pluginMemoryExceeded(options.memoryMbMax) : 'ended its thread with an error'
  end({ code: 'plugin_crashed', what })
})
thread.on('exit', (code) => {
  const isUnsettled = code === UNSETTLED_AWAIT
  const what = isUnsettled ? 'waits at its top level for a promise that never settles' : `ended with exit code ${code}`
  end({ code: 'plugin_crashed', what })
})
setInterval(check, CHECK_INTERVAL_MS)
raiseOomScore()
// All modules of this thread are loaded. The process ends by SIGKILL, so the compile cache has to be written before.
flushCompileCache()

function check(): void {
  const { blockedMsMax, loadMsMax } = options
  if (limit.isExceeded(process.memoryUsage.rss())) {
    end({ code: 'plugin_crashed', what: pluginMemoryExceeded(options.memoryMbMax) })
    return
  }
  const isLate = !heartbeat.isReady && performance.now() - startedMs > loadMsMax
  if (isLate) void endBlocked(`was not loaded within ${loadMsMax} ms`)
  if (heartbeat.isBlocked(blockedMsMax, CHECK_INTERVAL_MS))
    void endBlocked(`blocked its thread for more than ${blockedMsMax} ms`)
}

async function endBlocked(what: string): Promise<void> {
  if (isEnding) return
  isEnding = true
  const diagnosis = await diagnoseThread(THREAD_NAME)
  isEnding = false
  const id = diagnosis?.task === undefined ? {} : { id: Number(diagnosis.task) }
  end({ code: 'plugin_unresponsive', what, ...id, ...(diagnosis && { stack: diagnosis.stack }) })
}

function end(why: PluginProcessEnd): void {
  if (isEnding) return
  isEnding = true
  process.send?.({ type: 'ended', end: why } satisfies PluginProcessMessage, undefined, undefined, die)
}

function send(message: PluginProcessMessage): void {
  // A closed channel is reported by 'disconnect'.
  process.send?.(message, undefined, undefined, () => undefined)
}

/** By a signal, because an exit would wait for a thread that is in native code. */
function die(): void {
  process.kill(process.pid, 'SIGKILL')
}
