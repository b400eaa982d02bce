import type { ConditionReason } from '../../common/state-glossary.ts'
import { outcomeOfError } from '../controller/error-outcome.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import type { Reconciler } from '../controller/reconciler.ts'
import type { Resource, ResourceKind } from '../resources/resource.ts'
import { type FieldCause, fieldForConfigKey, fieldForReason } from './field-causes.ts'

export type DryRunner<K extends ResourceKind> = Pick<Reconciler<K>, 'runtime' | 'dryRun'>
export type DryRunners = { readonly [K in ResourceKind]: DryRunner<K> }

/** What a dry run of a resource shows. The admission webhook and `weir check` both decide by it. */
export type DryRunVerdict =
  | { readonly kind: 'accepted'; readonly warnings?: readonly string[] }
  | {
      readonly kind: 'rejected'
      readonly reason: ConditionReason
      readonly message: string
      /** By field; empty where the resource as a whole is rejected. */
      readonly causes: readonly FieldCause[]
    }
  /** The resource cannot be applied now. Another object, or the runtime itself, may resolve that without a change of it. */
  | { readonly kind: 'pending'; readonly reason: ConditionReason; readonly message: string }
  /** The runtime does not respond, or the dry run failed. */
  | { readonly kind: 'undecided'; readonly message: string; readonly unexpectedError?: unknown }

/** Reasons of `Stalled` that other resources may resolve, even in the same `kubectl apply`. */
const MAY_HEAL: ReadonlySet<ConditionReason> = new Set<ConditionReason>([
  'ReferenceNotFound',
  'Missing',
  'InputMissing',
])

export async function dryRunVerdict<K extends ResourceKind>(
  dryRunner: DryRunner<K>,
  resource: Resource<K>,
): Promise<DryRunVerdict> {
  try {
    const warnings = await dryRunner.dryRun(resource)
    return { kind: 'accepted', ...(warnings.length > 0 && { warnings }) }
  } catch (error) {
    return verdictOfError(error, dryRunner.runtime, resource)
  }
}

/** The verdict about a resource whose dry run or reconcile ended with this error. */
export function verdictOfError(
  error: unknown,
  runtime: Reconciler<ResourceKind>['runtime'],
  resource: Resource,
): DryRunVerdict {
  const outcome = outcomeOfError(error, {
    runtime,
    previous: [],
    generation: 0,
    sinceMs: 0,
    readinessGracePeriodMs: 0,
  })
  if (outcome === undefined) {
    return { kind: 'undecided', message: 'internal error of the operator: see its log', unexpectedError: error }
  }
  const { status: ready, reason, message, progress } = outcome.readyCondition
  if (ready === 'False' && progress === 'stalled' && !MAY_HEAL.has(reason)) {
    return { kind: 'rejected', reason, message, causes: causesOf(error, reason, message, resource) }
  }
  return ready === 'Unknown' ? { kind: 'undecided', message } : { kind: 'pending', reason, message }
}

function causesOf(error: unknown, reason: ConditionReason, message: string, resource: Resource): readonly FieldCause[] {
  const invalidKeys = error instanceof TerminalError ? error.invalidKeys : []
  if (invalidKeys.length > 0) {
    return invalidKeys.map((invalidKey) => ({
      field: fieldForConfigKey(invalidKey.key),
      message: invalidKey.message,
    }))
  }
  const field = fieldForReason(reason, resource)
  return field === undefined ? [] : [{ field, message }]
}

/** Warnings about a resource that is valid but may not be intended. */
export function usageWarnings(resource: Resource): readonly string[] {
  if (resource.kind !== 'RegistryMode') return []
  const { mode, window } = resource.spec
  return [
    ...(mode === 'READONLY_OVERRIDE' ? ['mode READONLY_OVERRIDE is deprecated: use READONLY'] : []),
    ...(window === undefined
      ? []
      : ['only the operator closes the window: the mode stays set while the operator does not run']),
  ]
}
