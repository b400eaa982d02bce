import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { importPlugins } from '../../../plugins/import-plugins.ts'
import { toDescriptor } from '../../../plugins/plugin-descriptor.ts'
import { ShippedPlugins } from '../../../plugins/shipped-plugins.ts'
import { BuiltIns } from '../built-ins.ts'
import { currentTask, runAsTask } from '../current-task.ts'
import { guardProcess } from '../process-guard.ts'
import { findAmong, PluginExecutor } from './plugin-executor.ts'
import { toPluginFailure } from './plugin-failure.ts'
import type { PluginProcessCall, PluginProcessMessage, PluginThreadData } from './plugin-messages.ts'

// Entry point of the thread that loads one module of plugins and executes calls. `plugin-process-main.ts` starts and
// supervises it.

const HEARTBEAT_MS = 50

const { module, access, heartbeat } = workerData as PluginThreadData
const counter = new Int32Array(heartbeat)
const send = (message: PluginProcessMessage) => parentPort?.postMessage(message)
const builtIns = new BuiltIns()
/** Calls that have not returned. */
const openCalls = new Set<number>()

guardProcess((call) => {
  const error = new Error(`${call} was called: plugins cannot end the process that they run in`)
  // The plugin may catch this error, so the call is settled here.
  settle(currentCall(), { threw: error })
  throw error
})
// Also receives unhandled rejections.
process.on('uncaughtException', (error: unknown) => settle(currentCall(), { threw: error }))

const executor = await load().catch((error: unknown) => {
  send({ type: 'load-failed', failure: toPluginFailure(error) })
  return undefined
})
if (executor) {
  Atomics.add(counter, 0, 1)
  setInterval(() => Atomics.add(counter, 0, 1), HEARTBEAT_MS)
  parentPort?.on('message', ({ id, call }: PluginProcessCall) => {
    // Another call may have replaced built-ins.
    builtIns.restore()
    send({ type: 'begun', id })
    openCalls.add(id)
    void runAsTask(String(id), () =>
      executor.execute(call).then(
        (output) => settle(id, { output }),
        (error: unknown) => settle(id, { threw: error }),
      ),
    )
  })
}

async function load(): Promise<PluginExecutor> {
  if (module === null) {
    const shipped = new ShippedPlugins()
    // Described in a file, and loaded one by one.
    send({ type: 'loaded', plugins: [] })
    return new PluginExecutor((plugin) => shipped.load(plugin), access)
  }
  const plugins = await importPlugins(module)
  builtIns.restore()
  send({ type: 'loaded', plugins: plugins.map(toDescriptor) })
  return new PluginExecutor(findAmong(plugins), access)
}

/** Settles a call once: code that threw asynchronously may still return a value. */
function settle(id: number | undefined, outcome: { readonly output: unknown } | { readonly threw: unknown }): void {
  if (id === undefined || !openCalls.delete(id)) return
  builtIns.restore()
  try {
    if ('threw' in outcome) send({ type: 'threw', id, failure: toPluginFailure(outcome.threw) })
    else send({ type: 'returned', id, output: outcome.output })
  } catch (error) {
    send({ type: 'threw', id, failure: toPluginFailure(error) })
  }
  // The call may have loaded modules. The process ends by SIGKILL, so the compile cache has to be written before.
  flushCompileCache()
}

/** Calls are tracked like tasks, with their ids as keys. */
function currentCall(): number | undefined {
  const id = currentTask()
  return id === undefined ? undefined : Number(id)
}
