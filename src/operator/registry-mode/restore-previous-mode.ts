import type { RegistryClient } from '../../clients/registry-client.ts'
import type { ReconcileResult } from '../controller/reconciler.ts'
import { scopeName } from '../resources/index-values.ts'
import type { Resource } from '../resources/resource.ts'
import { executeRegistryModeStep } from './execute-registry-mode-step.ts'
import { observeMode } from './observed-mode.ts'
import { lastWritten, type RegistryModeStep, restoredLevel, restoredMode, wasWritten } from './plan-registry-mode.ts'

/** Restores the previous mode and level of a resource that is being deleted, where they are still what it wrote. */
export async function restorePrevious(
  resource: Resource<'RegistryMode'>,
  registry: RegistryClient,
): Promise<ReconcileResult<'RegistryMode'>> {
  const { spec, status } = resource
  const { observedGeneration: _, conditions: __, ...statusFields } = status
  const done: ReconcileResult<'RegistryMode'> = {
    readyCondition: { status: 'False', reason: 'Deleting', message: 'restoring the mode', progress: 'reconciling' },
    statusFields,
    requeue: 'none',
    removeFinalizer: true,
  }
  if (spec.suspend || !wasWritten(status)) return done
  const observed = await observeMode(registry, resource)
  const { modes, levels } = lastWritten(resource)
  const steps: RegistryModeStep[] = []
  if (status.previousMode !== undefined && observed.ownMode !== undefined && modes.includes(observed.ownMode)) {
    steps.push(restoredMode(status.previousMode))
  }
  if (
    status.appliedCompatibility !== undefined &&
    observed.ownLevel !== undefined &&
    levels.includes(observed.ownLevel)
  ) {
    steps.push(restoredLevel(status.previousCompatibility))
  }
  for (const step of steps) await executeRegistryModeStep(step, scopeName(resource), registry)
  const note = `restored ${steps.length} settings that still had the values of this resource`
  return { ...done, events: [{ type: 'Normal', reason: 'ModeRestored', note }] }
}
