import type { CompatibilityLevel, NewSchema } from '../../clients/registry-client.ts'
import type { ConditionReason } from '../../common/state-glossary.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import type { ObservedCondition, ReadyCondition } from '../resources/condition.ts'
import type { Resource } from '../resources/resource.ts'
import type { DesiredSubject } from './desired-subject.ts'
import type { ObservedSubject } from './observed-subject.ts'

export type SubjectStep =
  | { readonly do: 'put-level'; readonly level: CompatibilityLevel }
  | { readonly do: 'delete-level' }
  | { readonly do: 'register'; readonly schema: NewSchema; readonly normalize: boolean }

export type SubjectPlan = { readonly steps: readonly SubjectStep[]; readonly readyCondition: ReadyCondition }

/**
 * Plans the steps from the observed to the desired state in a safe order: compatibility is checked first, then the
 * level is set, then the schema is registered. Pure. No steps mean that nothing has to be done. Throws `TerminalError`
 * before anything is written.
 */
export function planSubject(
  resource: Resource<'Subject'>,
  desired: DesiredSubject,
  observed: ObservedSubject,
): SubjectPlan {
  assertAdoptable(resource, desired, observed)
  if (observed.conflicts.length > 0) {
    throw new TerminalError(
      'Incompatible',
      incompatible(desired.compatibility ?? observed.effectiveLevel, observed.conflicts),
    )
  }
  const levelSteps = planLevel(resource, desired, observed)
  const schemaSteps = planSchema(resource, desired, observed)
  const steps = [...levelSteps, ...schemaSteps]
  if (steps.length === 0) return { steps, readyCondition: settled(resource, desired, observed) }
  const message = schemaSteps.length > 0 ? `registering it in ${desired.subject}` : 'changing the compatibility level'
  return { steps, readyCondition: { status: 'False', reason: 'Registering', message, progress: 'reconciling' } }
}

function assertAdoptable(
  { spec, status }: Resource<'Subject'>,
  desired: DesiredSubject,
  observed: ObservedSubject,
): void {
  const first = status.version === undefined && status.appliedCompatibility === undefined
  if (!first || observed.versions.length === 0) return
  if (spec.adoptionPolicy === 'Never') {
    throw new TerminalError('AlreadyExists', `subject ${desired.subject} already exists, and adoptionPolicy is Never`)
  }
  if (spec.adoptionPolicy === 'AdoptIfIdentical' && desired.schema !== undefined && observed.registered === undefined) {
    throw new TerminalError(
      'AdoptionRefused',
      `subject ${desired.subject} already exists and has no version with this schema`,
    )
  }
}

function planLevel(
  { spec, status }: Resource<'Subject'>,
  desired: DesiredSubject,
  observed: ObservedSubject,
): readonly SubjectStep[] {
  const { compatibility } = desired
  if (compatibility === undefined) {
    // The field was removed: the level is removed only while it is still the one that this operator set.
    const ours = status.appliedCompatibility !== undefined && status.appliedCompatibility === observed.level
    return ours ? [{ do: 'delete-level' }] : []
  }
  if (observed.level === compatibility) return []
  const drifted = status.appliedCompatibility === compatibility
  return drifted && spec.driftPolicy === 'Report' ? [] : [{ do: 'put-level', level: compatibility }]
}

function planSchema(
  { spec, status, metadata }: Resource<'Subject'>,
  desired: DesiredSubject,
  observed: ObservedSubject,
): readonly SubjectStep[] {
  if (desired.schema === undefined || observed.registered !== undefined) return []
  const lost = status.version !== undefined && status.observedGeneration === metadata.generation
  if (lost && spec.driftPolicy === 'Report' && !observed.versions.includes(status.version ?? 0)) return []
  return [{ do: 'register', schema: desired.schema, normalize: desired.normalize }]
}

function settled(resource: Resource<'Subject'>, desired: DesiredSubject, observed: ObservedSubject): ReadyCondition {
  const otherConditions: ObservedCondition[] = [synced(resource, desired, observed)]
  if (desired.schema === undefined) {
    return { status: 'True', reason: 'Succeeded', message: `level ${observed.effectiveLevel}`, otherConditions }
  }
  if (observed.registered === undefined) {
    const message = `the registration was deleted in the registry, and driftPolicy is Report`
    return { status: 'False', reason: 'Missing', message, progress: 'stalled', otherConditions }
  }
  const { version, id } = observed.registered
  const latest = observed.versions.at(-1) ?? version
  const count = desired.schema.references?.length ?? 0
  otherConditions.push({ type: 'Compatible', status: 'True', reason: 'Succeeded', message: 'registered' })
  otherConditions.push({
    type: 'ReferencesResolved',
    status: 'True',
    reason: 'Succeeded',
    message: `${count} of ${count}`,
  })
  otherConditions.push(
    latest > version
      ? { type: 'Latest', status: 'False', reason: 'SupersededByVersion', message: `version ${latest} is newer` }
      : { type: 'Latest', status: 'True', reason: 'Succeeded', message: 'it is the newest version' },
  )
  const newer = latest > version ? `; version ${latest} is newer` : ''
  return { status: 'True', reason: 'Succeeded', message: `version ${version}, id ${id}${newer}`, otherConditions }
}

const ABOUT: ReadonlyMap<ConditionReason, string> = new Map([
  ['Incompatible', 'Compatible'],
  ['ReferencePending', 'ReferencesResolved'],
  ['ReferenceNotFound', 'ReferencesResolved'],
  ['ReferenceInvalid', 'ReferencesResolved'],
  ['ReferenceCycle', 'ReferencesResolved'],
])

/** The condition that becomes False when a reconcile ends with this error. */
export function conditionsForError({
  reason,
  message,
}: Pick<ObservedCondition, 'message'> & { readonly reason: ConditionReason }): readonly ObservedCondition[] {
  const type = ABOUT.get(reason)
  return type === undefined ? [] : [{ type, status: 'False', reason, message }]
}

function synced({ spec }: Resource<'Subject'>, desired: DesiredSubject, observed: ObservedSubject): ObservedCondition {
  const levelDiffers = desired.compatibility !== undefined && observed.level !== desired.compatibility
  const schemaLost = desired.schema !== undefined && observed.registered === undefined
  if (!levelDiffers && !schemaLost) {
    return { type: 'Synced', status: 'True', reason: 'Succeeded', message: 'as declared' }
  }
  const what = levelDiffers ? `the level is ${observed.level ?? 'not set'}` : 'the schema is not registered'
  return {
    type: 'Synced',
    status: 'False',
    reason: 'Drifted',
    message: `${what}, and driftPolicy is ${spec.driftPolicy}`,
  }
}

function incompatible(level: CompatibilityLevel, conflicts: readonly string[]): string {
  return [`the schema is incompatible with the existing versions (${level}):`, ...conflicts].join('\n')
}
