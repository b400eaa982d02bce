import { unreachable } from '../../common/errors.ts'
import type { EventReason, ResourceEvent } from '../cluster/cluster.ts'
import type { ReconcileResult } from '../controller/reconciler.ts'
import type { Resource } from '../resources/resource.ts'
import type { DesiredSubject } from './desired-subject.ts'
import type { ObservedSubject } from './observed-subject.ts'
import type { SubjectStep } from './plan-subject.ts'

const VERSIONS_MAX = 1_000

/** The status of a Subject after `executed` steps. */
export function subjectStatusFields(
  { status, spec }: Resource<'Subject'>,
  desired: DesiredSubject,
  observed: ObservedSubject,
  executed: readonly SubjectStep[],
  nowMs: number,
): ReconcileResult<'Subject'>['statusFields'] {
  const { observedGeneration: _, conditions: __, appliedCompatibility, ...previousFields } = status
  const isReverted = executed.some((step) => step.do === 'delete-level') || spec.compatibility === undefined
  const putLevel = executed.find((step) => step.do === 'put-level')?.level
  // A level that matches the declaration counts as applied: this operator may have set it before a crash.
  const asDeclared = observed.level === spec.compatibility ? observed.level : appliedCompatibility
  const appliedLevel = isReverted ? undefined : (putLevel ?? asDeclared)
  const latestVersion = observed.versions.at(-1)
  return {
    ...previousFields,
    subject: desired.subject,
    registry: spec.registryRef.name,
    ...observed.registered,
    versions: observed.versions.slice(-VERSIONS_MAX),
    ...(latestVersion === undefined ? {} : { latestVersion }),
    compatibility: putLevel ?? observed.effectiveLevel,
    ...(appliedLevel === undefined ? {} : { appliedCompatibility: appliedLevel }),
    ...(spec.imports === undefined ? {} : { imported: spec.imports.length }),
    ...(desired.schema?.references === undefined ? {} : { resolvedReferences: desired.schema.references }),
    ...(executed.some((step) => step.do === 'register') ? { lastRegisteredTime: new Date(nowMs).toISOString() } : {}),
  }
}

/** The Event that reports an executed step. */
export function subjectStepEvent(
  step: SubjectStep,
  { subject }: DesiredSubject,
  { status, metadata }: Resource<'Subject'>,
): ResourceEvent {
  const wasReconciled = status.observedGeneration === metadata.generation
  const event = (reason: EventReason, note: string): ResourceEvent => ({ type: 'Normal', reason, note })
  /** A step without a change of the declaration corrects drift. */
  const orDriftCorrected = (reason: EventReason, previous: unknown) =>
    wasReconciled && previous !== undefined ? 'DriftCorrected' : reason
  switch (step.do) {
    case 'put-level':
      return event(
        orDriftCorrected('CompatibilityChanged', status.appliedCompatibility),
        `set the compatibility level of ${subject} to ${step.level}`,
      )
    case 'delete-level':
      return event('CompatibilityReverted', `removed the compatibility level of ${subject}: it inherits its level now`)
    case 'register':
      return event(orDriftCorrected('Registered', status.version), `registered the schema in ${subject}`)
    default:
      return unreachable(step)
  }
}
