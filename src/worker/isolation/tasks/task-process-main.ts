import { MessageChannel } from 'node:worker_threads'
import type { BrokerAddress } from '../../../broker/broker-address.ts'
import { isTransient } from '../../../broker/broker-error.ts'
import { openBroker } from '../../../broker/open-broker.ts'
import { systemClock } from '../../../common/clock.ts'
import { createLogger, type Logger } from '../../../common/logging/logger.ts'
import { retry } from '../../../common/retry.ts'
import { configuresTracing, useTracer } from '../../../common/tracing.ts'
import { ConnectorChains } from '../../../java/connector-chains.ts'
import { javaPlugins } from '../../../java/java-plugins.ts'
import { loadModules } from '../../../plugins/load-modules.ts'
import { shippedPlugins } from '../../../plugins/shipped-plugins.ts'
import { openConnectorBroker } from '../../configuration/connector-brokers.ts'
import { restrictConnectors } from '../../host-access/class-rules.ts'
import { hostAccess } from '../../host-access/host-access.ts'
import type { TopicAccessPolicy } from '../../topic-access/topic-access-policy.ts'
import { currentTask } from '../current-task.ts'
import { JavaSteps } from '../java/java-steps.ts'
import { connectToWorker } from '../worker-channel.ts'
import { loadTaskPlugins } from './load-task-plugins.ts'
import { TaskExecutor } from './task-executor.ts'
import { TaskLogOutput } from './task-log-output.ts'
import type { TaskProcessCommand, TaskProcessMessage, TaskProcessStart } from './task-messages.ts'
import { TaskRunner } from './task-runner.ts'

// Entry point of a task process, which `task-process.ts` starts. It executes the commands of the worker. Plugin code runs on this
// thread, and the worker ends the process when that code blocks it.

const OPEN_RETRY = {
  backoff: { firstMs: 250, maxMs: 5_000 },
  withinMs: Number.POSITIVE_INFINITY,
  retriable: isTransient,
}

const started = Promise.withResolvers<TaskExecutor>()
let sendToBroker: ((message: unknown) => void) | undefined
let topicPolicy: TopicAccessPolicy

process.title = `weir ${process.argv[2] ?? 'tasks'}`
const channel = connectToWorker(currentTask, (message) => handle(message as TaskProcessCommand))
const send = (message: TaskProcessMessage) => void channel.send(message)

function handle(message: TaskProcessCommand): void {
  if (message.do === 'initialize') started.resolve(initialize(message.options))
  else if (message.do === 'set-topic-policy') topicPolicy = message.policy
  else if (message.do === 'broker') sendToBroker?.(message.message)
  // In the order in which the commands were sent.
  else if (message.do !== 'heartbeat') void started.promise.then((executor) => executor.execute(message))
}

async function initialize(options: TaskProcessStart): Promise<TaskExecutor> {
  const { plugins: modules, access: connectorAccess, log } = options
  if (configuresTracing(process.env)) {
    const { openTelemetryTracer } = await import('../../../common/open-telemetry-tracer.ts')
    useTracer(openTelemetryTracer('tasks', process.env))
  }
  topicPolicy = options.topicPolicy
  const output = new TaskLogOutput({
    limits: log,
    monotonicMs: systemClock.monotonicMs,
    task: currentTask,
    send: (line) => send({ type: 'log', line }),
  })
  // The worker filters by level, because the level can change at any time.
  const logger = createLogger({ level: 'debug', write: (line) => output.write(line) })
  output.start()
  const chains = new ConnectorChains()
  const java = modules.java.flatMap((module) =>
    javaPlugins(module, chains).map((plugin) => ({ file: module.location, plugin, isJava: true })),
  )
  const installed = await loadModules(await shippedPlugins(), modules.urls, java)
  const known = restrictConnectors(installed, connectorAccess.classes)
  const access = hostAccess(connectorAccess.host)
  channel.startHeartbeats()
  const address = addressOf(options)
  const runner = new TaskRunner({
    broker: await retry(() => openBroker(address, { logger }), OPEN_RETRY),
    connect: (connection, overrides) => openConnectorBroker(address, { connection, overrides }, { access, logger }),
    topicPolicy: () => topicPolicy,
    loadPlugins: (spec) => loadTaskPlugins(known, spec),
    remote: modules.java.length === 0 ? undefined : new JavaSteps(modules.java, chains),
    access,
    logger,
    clock: systemClock,
  })
  reportUncaught(runner, logger)
  return new TaskExecutor(runner, send)
}

/** Also receives unhandled rejections. */
function reportUncaught(runner: TaskRunner, logger: Logger): void {
  process.on('uncaughtException', (error: unknown) => {
    if (!runner.handleUncaught(error)) logger.error({ err: error }, 'an uncaught error belongs to no task')
  })
}

/** The embedded broker is open in the worker. Requests and responses use the channel to it. */
function addressOf({ address }: TaskProcessStart): BrokerAddress {
  if (address !== 'parent') return address
  const { port1, port2 } = new MessageChannel()
  port1.on('message', (message: unknown) => send({ type: 'broker', message }))
  sendToBroker = (message) => port1.postMessage(message)
  return { kind: 'thread', port: port2 }
}
