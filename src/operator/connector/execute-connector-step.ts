import { RequestError } from '../../clients/http-client.ts'
import type { ConnectorProperties, WorkerClient } from '../../clients/worker-client.ts'
import { unreachable } from '../../common/errors.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import type { ConnectorStep } from './connector-step.ts'

/** A worker with the interval at which it is observed. */
export type ObservedWorker = { readonly worker: WorkerClient; readonly observeIntervalMs: number }

/** Executes one step on the worker. Throws `TerminalError` for what the worker rejects. */
export async function executeConnectorStep(
  step: ConnectorStep,
  name: string,
  observed: ObservedWorker,
): Promise<unknown> {
  const { worker } = observed
  switch (step.do) {
    case 'create':
      return withInvalidKeys(observed, step.config, worker.create(name, step.config, step.state))
    case 'put-config':
      return withInvalidKeys(observed, step.config, worker.putConfig(name, step.config))
    case 'restart':
      return worker.restart(name, { includeTasks: step.includeTasks, onlyFailed: step.onlyFailed })
    case 'restart-task':
      return worker.restartTask(name, step.task)
    case 'alter-offsets':
      return offsetsAccepted(worker.alterOffsets(name, step.offsets))
    case 'reset-offsets':
      return offsetsAccepted(worker.resetOffsets(name))
    case 'pause':
    case 'resume':
    case 'stop':
    case 'delete':
      return worker[step.do](name)
    default:
      return unreachable(step)
  }
}

/** Requests the invalid keys only after a rejection: the worker validates every configuration that it is sent. */
async function withInvalidKeys<T>(
  observed: ObservedWorker,
  config: ConnectorProperties,
  request: Promise<T>,
): Promise<T> {
  try {
    return await request
  } catch (error) {
    // Workers use different status codes for an unknown connector class.
    const isRejected = error instanceof RequestError && [400, 404, 500].includes(error.status)
    if (isRejected) await assertConfigValid(observed, config)
    throw error
  }
}

/** Validates a configuration on the worker, and returns its warnings. Throws `TerminalError` with every invalid key. */
export async function assertConfigValid(
  { worker, observeIntervalMs }: ObservedWorker,
  config: ConnectorProperties,
): Promise<readonly string[]> {
  const plugin = config['connector.class'] ?? ''
  const { configs, warnings = [] } = await worker
    .validate(plugin, config)
    .catch((error: unknown) => throwRejection(error, plugin, observeIntervalMs))
  const invalidKeys = configs.flatMap(({ value }) => value.errors.map((message) => ({ key: value.name, message })))
  if (invalidKeys.length === 0) return warnings
  const message = invalidKeys.map((invalidKey) => `${invalidKey.key}: ${invalidKey.message}`).join('; ')
  throw new TerminalError('ConfigInvalid', message, { invalidKeys })
}

/** A class may be installed at any time, without a change of the resource. */
function throwRejection(error: unknown, plugin: string, observeIntervalMs: number): never {
  if (!(error instanceof RequestError)) throw error
  if (error.status === 404 || /Failed to find any class/.test(error.message)) {
    throw new TerminalError('PluginNotFound', `no worker has a connector class '${plugin}'`, {
      requeueAfterMs: observeIntervalMs,
    })
  }
  if (error.status === 400) throw new TerminalError('ConfigInvalid', error.message)
  throw error
}

async function offsetsAccepted(request: Promise<string>): Promise<void> {
  try {
    await request
  } catch (error) {
    if (error instanceof RequestError && error.status === 400) throw new TerminalError('OffsetsRejected', error.message)
    throw error
  }
}
