import { RequestError } from '../../clients/http-client.ts'
import { type NewSchema, REGISTRY_ERROR, type RegistryClient } from '../../clients/registry-client.ts'
import { unreachable } from '../../common/errors.ts'
import { DependencyNotReady, TerminalError } from '../controller/reconcile-error.ts'
import type { PollInterval } from '../controller/requeue-delays.ts'
import type { DesiredSubject } from './desired-subject.ts'
import {
  assertSchemaValid,
  effectiveCompatibility,
  type ObservedSubject,
  observeRegistration,
  type SchemaAccess,
  toSchemaError,
} from './observed-subject.ts'
import type { SubjectStep } from './plan-subject.ts'

/** The mode of a registry is not part of any list, so it is polled. */
const READ_ONLY: PollInterval = { firstMs: 5_000, maxMs: 60_000 }

/**
 * Executes the steps of a plan in order. Returns the observed state after them. When the registry rejects the schema,
 * the level that was set for it is restored. Throws `TerminalError` for what the registry rejects and
 * `DependencyNotReady` while it is read-only.
 */
export async function executeSubjectSteps(
  steps: readonly SubjectStep[],
  access: SchemaAccess,
  desired: DesiredSubject,
  observedBefore: ObservedSubject,
): Promise<ObservedSubject> {
  const { registry } = access
  let observed = observedBefore
  let restoreLevel: (() => Promise<void>) | undefined
  for (const step of steps) {
    switch (step.do) {
      case 'put-level':
        await unlessReadOnly(registry.putConfig({ compatibility: step.level }, desired.subject))
        restoreLevel = levelRestorer(registry, desired.subject, observed.level)
        observed = { ...observed, level: step.level, effectiveLevel: step.level }
        break
      case 'delete-level':
        await unlessReadOnly(registry.deleteConfig(desired.subject))
        observed = {
          ...observed,
          level: undefined,
          effectiveLevel: await effectiveCompatibility(registry, desired.subject),
        }
        break
      case 'register':
        observed = { ...observed, ...(await register(step, access, desired, observed, restoreLevel)) }
        break
      default:
        unreachable(step)
    }
  }
  return observed
}

function levelRestorer(registry: RegistryClient, subject: string, level: ObservedSubject['level']) {
  return (): Promise<void> =>
    level === undefined ? registry.deleteConfig(subject) : registry.putConfig({ compatibility: level }, subject)
}

/** Returns the part of the observed state that the registration changed. */
async function register(
  { schema, normalize }: Extract<SubjectStep, { do: 'register' }>,
  access: SchemaAccess,
  desired: DesiredSubject,
  observed: ObservedSubject,
  restoreLevel: (() => Promise<void>) | undefined,
): Promise<Partial<ObservedSubject>> {
  const { registry } = access
  try {
    const registered = await unlessReadOnly(registry.register(desired.subject, schema, { normalize }))
    return await observeRegistration(registry, desired, observed, registered)
  } catch (error) {
    if (error instanceof RequestError && !error.retriable) await restoreLevel?.()
    throw await toRejection(error, desired.subject, schema, access)
  }
}

/** Distinguishes a missing reference from an invalid schema. */
async function toRejection(error: unknown, subject: string, schema: NewSchema, access: SchemaAccess): Promise<unknown> {
  if (error instanceof RequestError && error.status === 409) return new TerminalError('Incompatible', error.message)
  const rejection = toSchemaError(error)
  if (rejection instanceof TerminalError) await assertSchemaValid(access, subject, schema)
  return rejection
}

async function unlessReadOnly<T>(request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    if (!(error instanceof RequestError) || error.errorCode !== REGISTRY_ERROR.operationNotPermitted) throw error
    throw readOnlyError(error)
  }
}

export function readOnlyError({ message }: RequestError): DependencyNotReady {
  return new DependencyNotReady('RegistryReadOnly', `the registry accepts no changes now: ${message}`, {
    pollInterval: READ_ONLY,
  })
}
