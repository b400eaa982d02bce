import { RequestError } from '../../clients/http.ts'
import type { ConnectorProperties, WorkerClient } from '../../clients/worker.ts'
import { unreachable } from '../../config/errors.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import type { ConnectorStep } from './connector-plan.ts'

const PLUGIN_AGAIN_MS = 300_000

/** Carries out one step on the worker. Throws `TerminalError` for what the worker refuses. */
export async function executeConnectorStep(step: ConnectorStep, name: string, worker: WorkerClient): Promise<unknown> {
  switch (step.do) {
    case 'create':
      return explained(worker, step.config, worker.create(name, step.config, step.state))
    case 'put-config':
      return explained(worker, step.config, worker.putConfig(name, step.config))
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

/** A worker validates what it is given: it is asked which keys are wrong only when it refuses. */
async function explained<T>(worker: WorkerClient, config: ConnectorProperties, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    // Workers differ in how they refuse a class that they don't have.
    const isRefusal = error instanceof RequestError && [400, 404, 500].includes(error.status)
    if (isRefusal) await assertConfigValid(worker, config)
    throw error
  }
}

/** Throws `TerminalError` with every wrong key, by the worker's own validation. */
export async function assertConfigValid(worker: WorkerClient, config: ConnectorProperties): Promise<void> {
  const plugin = config['connector.class'] ?? ''
  const { configs } = await worker.validate(plugin, config).catch((error: unknown) => refusal(error, plugin))
  const invalidKeys = configs.flatMap(({ value }) => value.errors.map((message) => ({ key: value.name, message })))
  if (invalidKeys.length === 0) return
  const message = invalidKeys.map((invalidKey) => `${invalidKey.key}: ${invalidKey.message}`).join('; ')
  throw new TerminalError('ConfigInvalid', message, { invalidKeys })
}

function refusal(error: unknown, plugin: string): never {
  if (!(error instanceof RequestError)) throw error
  if (error.status === 404 || /Failed to find any class/.test(error.message)) {
    throw new TerminalError('PluginNotFound', `no worker has a connector class '${plugin}'`, {
      requeueAfterMs: PLUGIN_AGAIN_MS,
    })
  }
  if (error.status === 400) throw new TerminalError('ConfigInvalid', error.message)
  throw error
}

async function offsetsAccepted(asked: Promise<string>): Promise<void> {
  try {
    await asked
  } catch (error) {
    if (error instanceof RequestError && error.status === 400) throw new TerminalError('OffsetsRejected', error.message)
    throw error
  }
}
