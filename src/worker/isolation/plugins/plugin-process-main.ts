import { importPlugins } from '../../../plugins/import-plugins.ts'
import { loadModules } from '../../../plugins/load-modules.ts'
import { toDescriptor } from '../../../plugins/plugin-descriptor.ts'
import { importShipped, shippedPlugins } from '../../../plugins/shipped-plugins.ts'
import { currentTask, runAsTask } from '../current-task.ts'
import { connectToWorker } from '../worker-channel.ts'
import { findAmong, PluginExecutor } from './plugin-executor.ts'
import { toPluginFailure } from './plugin-failure.ts'
import type { PluginProcessCall, PluginProcessMessage, PluginProcessOptions } from './plugin-messages.ts'

// Entry point of the process that `plugin-process.ts` starts for one module of plugins. It loads the module and executes calls. Plugin
// code runs on this thread, and the worker ends the process when that code blocks it.

const { module, access } = JSON.parse(process.argv[2] ?? '') as PluginProcessOptions
const started = Promise.withResolvers<PluginExecutor>()
/** Calls that have not returned. */
const openCalls = new Set<number>()

process.title = 'weir plugins'
// Calls are tracked like tasks, with their ids as keys.
const channel = connectToWorker(currentTask, (message) => void execute(message as PluginProcessCall))
const send = (message: PluginProcessMessage) => channel.send(message)
// Also receives unhandled rejections.
process.on('uncaughtException', (error: unknown) => {
  const call = currentTask()
  if (call !== undefined) settle(Number(call), { threw: error })
})
// So that the process exits when the module waits for a promise that never settles. The heartbeats keep it running.
process.channel?.unref()
try {
  const executor = await load()
  channel.startHeartbeats()
  started.resolve(executor)
} catch (error) {
  channel.startHeartbeats()
  void send({ type: 'load-failed', failure: toPluginFailure(error) })
}

async function load(): Promise<PluginExecutor> {
  const catalog = async () => loadModules(await shippedPlugins(), module === null ? [] : [module])
  if (module === null) {
    const shipped = await shippedPlugins()
    // Described elsewhere, and loaded one by one.
    void send({ type: 'loaded', plugins: [] })
    return new PluginExecutor(
      async ({ kind, class: name }) => {
        const found = shipped.find((plugin) => plugin.kind === kind && plugin.class === name)
        return found && importShipped(found)
      },
      access,
      catalog,
    )
  }
  const plugins = await importPlugins(module)
  void send({ type: 'loaded', plugins: plugins.map(toDescriptor) })
  return new PluginExecutor(findAmong(plugins), access, catalog)
}

async function execute({ id, call }: PluginProcessCall): Promise<void> {
  const executor = await started.promise
  // The worker has to know which call runs before its code can block this thread.
  await send({ type: 'begun', id })
  openCalls.add(id)
  await runAsTask(String(id), () =>
    executor.execute(call).then(
      (output) => settle(id, { output }),
      (error: unknown) => settle(id, { threw: error }),
    ),
  )
}

/** Settles a call once: code that threw asynchronously may still return a value. */
function settle(id: number, outcome: { readonly output: unknown } | { readonly threw: unknown }): void {
  if (!openCalls.delete(id)) return
  try {
    if ('threw' in outcome) void send({ type: 'threw', id, failure: toPluginFailure(outcome.threw) })
    else channel.send({ type: 'returned', id, output: outcome.output }).catch((error: unknown) => fail(id, error))
  } catch (error) {
    fail(id, error)
  }
}

/** Reports an output that cannot be sent. */
function fail(id: number, error: unknown): void {
  void send({ type: 'threw', id, failure: toPluginFailure(error) })
}
