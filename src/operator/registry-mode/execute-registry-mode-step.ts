import { RequestError, undefinedIfNotFound } from '../../clients/http-client.ts'
import { REGISTRY_ERROR, type RegistryClient } from '../../clients/registry-client.ts'
import { unreachable } from '../../common/errors.ts'
import { type RegistryModeStep, scopeNotEmpty } from './plan-registry-mode.ts'

/** Executes one step on a scope; undefined: the registry itself. Throws `TerminalError` for a mode that is rejected. */
export async function executeRegistryModeStep(
  step: RegistryModeStep,
  scope: string | undefined,
  registry: RegistryClient,
): Promise<void> {
  switch (step.do) {
    case 'put-mode':
      return registry.putMode(step.mode, scope, { force: step.force }).catch((error: unknown) => {
        throw toRejection(error)
      })
    case 'delete-mode':
      return void (await undefinedIfNotFound(registry.deleteMode(scope)))
    case 'put-level':
      return registry.putConfig({ compatibility: step.level }, scope)
    case 'delete-level':
      return void (await undefinedIfNotFound(registry.deleteConfig(scope)))
    default:
      return unreachable(step)
  }
}

function toRejection(error: unknown): unknown {
  const isRejected = error instanceof RequestError && error.errorCode === REGISTRY_ERROR.operationNotPermitted
  return isRejected ? scopeNotEmpty(`the registry rejects it: ${error.message}`) : error
}
