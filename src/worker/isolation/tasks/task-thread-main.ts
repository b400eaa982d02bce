import { isDeepStrictEqual } from 'node:util'
import { parentPort, workerData } from 'node:worker_threads'
import type { Broker } from '../../../broker/broker.ts'
import { BrokerError } from '../../../broker/broker-error.ts'
import { openBroker } from '../../../broker/open-broker.ts'
import { systemClock } from '../../../common/clock.ts'
import { returnMemoryWhenIdle } from '../../../common/idle-memory.ts'
import { createLogger } from '../../../common/logging/logger.ts'
import { retry } from '../../../common/retry.ts'
import { ConnectorChains } from '../../../java/connector-chains.ts'
import { javaPlugins } from '../../../java/java-plugins.ts'
import type { Loaded } from '../../../plugins/conflict-resolution.ts'
import { LazyCatalog } from '../../../plugins/lazy-catalog.ts'
import { loadModules } from '../../../plugins/load-modules.ts'
import { ShippedPlugins } from '../../../plugins/shipped-plugins.ts'
import type { RawConfig } from '../../../sdk/index.ts'
import { restrictConnectors } from '../../host-access/class-rules.ts'
import { clientAccess, hostAccess } from '../../host-access/host-access.ts'
import { countersIn } from '../../tasks/task-counters.ts'
import { BuiltIns } from '../built-ins.ts'
import { currentTask } from '../current-task.ts'
import { JavaSteps } from '../java/java-steps.ts'
import { guardProcess } from '../process-guard.ts'
import { captureOutput, TaskLogOutput } from './task-log-output.ts'
import type { TaskThreadCommand, TaskThreadData, TaskThreadMessage } from './task-messages.ts'
import { type LocalTask, TaskRunner } from './task-runner.ts'

// Entry point of the thread that runs tasks, which `task-thread.ts` starts. It executes the commands of the main thread.

/** Interval at which a responsive thread increments its counter, in ms. */
const HEARTBEAT_MS = 100
const OPEN_RETRY = { backoff: { firstMs: 250, maxMs: 5_000 }, withinMs: 600_000, retriable: isTransient }

const data = workerData as TaskThreadData
// Saved before plugins are loaded, because plugins may replace it.
const { add } = Atomics
const port = parentPort
const sendMessage = (message: TaskThreadMessage) => port?.postMessage(message)
const heartbeat = new Int32Array(data.heartbeat)

const output = new TaskLogOutput({
  limits: data.log,
  monotonicMs: systemClock.monotonicMs,
  task: currentTask,
  send: (line) => sendMessage({ type: 'log', line }),
})
// The worker filters by level, because the level can change at any time.
const logger = createLogger({ level: 'debug', write: (line) => output.write(line) })
captureOutput(logger, currentTask)
output.start()
guardProcess((call) => {
  const error = new Error(`a plugin called ${call}, which is not allowed: it would end the process of all tasks`)
  runner?.handleUncaught(error)
  throw error
})
const builtIns = new BuiltIns()
let runner: TaskRunner | undefined
const chains = new ConnectorChains()
const shipped = new ShippedPlugins()
const known = await loadModules(shipped, data.plugins.urls, loadedJavaPlugins())
const plugins = new LazyCatalog(restrictConnectors(known, data.access.classes), shipped)
const remote = data.plugins.java.length === 0 ? undefined : new JavaSteps(data.plugins.java, chains)
const access = hostAccess(data.access.host)
const changedByModules = builtIns.restore()
if (changedByModules.length > 0) {
  const fields = { modules: data.plugins.urls, names: changedByModules }
  logger.error(
    fields,
    'plugin modules changed JavaScript built-ins while they were loaded; the built-ins were restored',
  )
}
const broker = await retry(() => openBroker(data.address, { logger }), OPEN_RETRY)
const taskRunner = new TaskRunner({
  broker,
  connect,
  plugins,
  loadPlugin: (kind, name, version) => plugins.load(kind, name, version),
  remote,
  access,
  logger,
  clock: systemClock,
})
runner = taskRunner
const tasks = new Map<number, LocalTask>()

// Also receives unhandled rejections.
process.on('uncaughtException', (error: unknown) => {
  if (!taskRunner.handleUncaught(error)) logger.error({ err: error }, 'an uncaught error belongs to no task')
})
// Before the first task starts, because that task may block the thread forever.
add(heartbeat, 0, 1)
setInterval(() => {
  areBuiltInsIntact()
  add(heartbeat, 0, 1)
}, HEARTBEAT_MS)
port?.on('message', (message: TaskThreadCommand) => void execute(message))
returnMemoryWhenIdle()

function loadedJavaPlugins(): readonly Loaded[] {
  const plugins = data.plugins.java.map((module) => [module.location, javaPlugins(module, chains)] as const)
  return plugins.flatMap(([file, own]) => own.map((plugin) => ({ file, plugin, isJava: true })))
}

/** Returns false when a plugin had replaced built-ins, so that nothing the thread did since is reliable. */
function areBuiltInsIntact(): boolean {
  const names = builtIns.restore()
  if (names.length > 0) sendMessage({ type: 'changed-built-ins', names: names.slice(0, 10) })
  return names.length === 0
}

async function execute(message: TaskThreadCommand): Promise<void> {
  const { runId } = message
  if (!areBuiltInsIntact()) return
  switch (message.do) {
    case 'start': {
      const { spec, counters } = message
      const report: Parameters<TaskRunner['start']>[2] = (taskMessage) => {
        // Built-ins that another task replaced may have caused the failure.
        if (taskMessage.type !== 'failed' || areBuiltInsIntact())
          sendMessage({ type: 'task-message', runId, message: taskMessage })
      }
      tasks.set(runId, taskRunner.start(spec, countersIn(counters), report))
      break
    }
    case 'set-paused':
      tasks.get(runId)?.setPaused(message.paused)
      break
    case 'stop':
      await tasks.get(runId)?.stop()
      tasks.delete(runId)
      sendMessage({ type: 'stopped', runId })
  }
}

/** Resolves to undefined for an embedded broker, which has a single connection. */
async function connect(connection: RawConfig, overrides: RawConfig): Promise<Broker | undefined> {
  const { address } = data
  if (address.kind !== 'kafka') return undefined
  const config = { ...address.config, ...connection }
  if (isDeepStrictEqual(config, address.config)) return undefined
  return openBroker({ kind: 'kafka', config }, { logger, access: clientAccess(access, overrides) })
}

function isTransient(error: unknown): boolean {
  return error instanceof BrokerError && error.retriable
}
