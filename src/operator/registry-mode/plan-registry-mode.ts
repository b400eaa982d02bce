import type { CompatibilityLevel, Mode } from '../../clients/registry-client.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import { findCondition, type ObservedCondition, type ReadyCondition } from '../resources/condition.ts'
import { durationMs } from '../resources/field-schemas.ts'
import type { Previous, RegistryModeStatus } from '../resources/registry-mode.ts'
import type { Resource } from '../resources/resource.ts'
import { needsEmptyScope, type ObservedMode } from './observed-mode.ts'

export type RegistryModeStep =
  | { readonly do: 'put-mode'; readonly mode: Mode; readonly force: boolean }
  | { readonly do: 'delete-mode' }
  | { readonly do: 'put-level'; readonly level: CompatibilityLevel }
  | { readonly do: 'delete-level' }

const NEVER_MS = Number.POSITIVE_INFINITY

type Window = NonNullable<RegistryModeStatus['window']>

export type RegistryModePlan = {
  readonly steps: readonly RegistryModeStep[]
  readonly readyCondition: ReadyCondition
  readonly statusFields: Pick<
    RegistryModeStatus,
    'previousMode' | 'appliedMode' | 'previousCompatibility' | 'appliedCompatibility' | 'window'
  >
  /** Time until the window closes; Infinity without an open window. */
  readonly afterMs: number
}

const CLOCK_SLACK_MS = 300_000
/** A window with `closeWhenImported` closes this long after the last import, because another import may follow. */
const QUIET_MS = 10_000

/**
 * Plans the steps from the observed to the desired mode. Pure; no steps mean that nothing has to be done. `importedMs`
 * is the time of the last import; undefined while imports are pending. Throws `TerminalError`.
 */
export function planRegistryMode(
  resource: Resource<'RegistryMode'>,
  observed: ObservedMode,
  nowMs: number,
  importedMs: number | undefined,
): RegistryModePlan {
  const { spec, status } = resource
  const { window, endsMs } = planWindow(resource, nowMs, importedMs)
  const closed = window?.phase === 'Closed'
  const previousMode = status.previousMode ?? previousOf(observed.ownMode)
  const drifted = wasSynced(resource)
  const justClosed = closed && status.window?.phase !== 'Closed'
  const mayWrite = spec.driftPolicy === 'Correct' || !drifted || justClosed
  const target = targetMode(resource, window)
  const modeSteps = mayWrite ? planMode(resource, observed, target, closed, previousMode) : []
  const wantedSteps = [...modeSteps, ...planLevel(resource, observed)]
  // The previous values are recorded before anything is written: after a crash, the operator's own values would be
  // taken for them.
  const isModeKnown = target === undefined || status.previousMode !== undefined
  const isLevelKnown = spec.compatibility === undefined || status.previousCompatibility !== undefined
  const isRecorded = wantedSteps.length === 0 || (isModeKnown && isLevelKnown)
  const { previousMode: knownMode, appliedMode, appliedCompatibility } = status
  return {
    steps: isRecorded ? wantedSteps : [],
    readyCondition: readyConditionOf(resource, observed, wantedSteps, window),
    statusFields: {
      // What is not declared any more is restored with these later.
      ...(!isRecorded && { previousMode: knownMode, appliedMode, appliedCompatibility }),
      ...(target !== undefined && { previousMode, appliedMode: target }),
      ...levelFieldsOf(resource, observed),
      ...(window === undefined || !isRecorded ? {} : { window }),
    },
    afterMs: isRecorded ? endsMs - nowMs : 0,
  }
}

/** Whether the current generation was in sync before. A difference is then a change by another client. */
export function wasSynced({ metadata, status }: Resource<'RegistryMode'>): boolean {
  const isCurrent = status.observedGeneration === metadata.generation
  return isCurrent && findCondition(status.conditions, 'Synced') !== undefined
}

function levelFieldsOf({ spec, status }: Resource<'RegistryMode'>, { ownLevel }: ObservedMode) {
  if (spec.compatibility === undefined) return {}
  const previousCompatibility = status.previousCompatibility ?? previousOf(ownLevel)
  return { appliedCompatibility: spec.compatibility, previousCompatibility }
}

/** Whether this resource has written to the registry, or was about to. */
export function wasWritten({ previousMode, previousCompatibility }: RegistryModeStatus): boolean {
  return previousMode !== undefined || previousCompatibility !== undefined
}

/**
 * The modes and levels that this resource may have set last: those in its status, and the declared ones, because the
 * operator may have crashed after it had set them and before it wrote the status.
 */
export function lastWritten(resource: Resource<'RegistryMode'>) {
  const { spec, status } = resource
  const window = spec.window?.id === status.window?.id ? status.window : undefined
  return {
    modes: [status.appliedMode, targetMode(resource, window)],
    levels: [status.appliedCompatibility, spec.compatibility],
  }
}

/** Undefined if the resource declares a level only. */
function targetMode({ spec }: Resource<'RegistryMode'>, window: Window | undefined): Mode | undefined {
  return window?.phase === 'Closed' ? (spec.window?.then ?? 'READWRITE') : spec.mode
}

function planMode(
  resource: Resource<'RegistryMode'>,
  observed: ObservedMode,
  target: Mode | undefined,
  closed: boolean,
  previous: Previous,
): readonly RegistryModeStep[] {
  if (target !== undefined) return planDeclaredMode(resource, observed, target, closed, previous)
  const { appliedMode } = resource.status
  return appliedMode !== undefined && appliedMode === observed.ownMode ? [restoredMode(previous)] : []
}

function planDeclaredMode(
  { spec, status }: Resource<'RegistryMode'>,
  observed: ObservedMode,
  target: Mode,
  closed: boolean,
  previous: Previous,
): readonly RegistryModeStep[] {
  if (spec.adoptionPolicy === 'Never' && status.previousMode === undefined && (observed.ownMode ?? target) !== target) {
    throw new TerminalError('AlreadySet', `the mode is already ${observed.ownMode}, and adoptionPolicy is Never`)
  }
  if (closed && target === 'READWRITE' && !previous.explicit) {
    return observed.ownMode === undefined || observed.ownMode === target ? [] : [{ do: 'delete-mode' }]
  }
  if (!closed && !observed.isEmpty && needsEmptyScope({ spec }, observed.ownMode)) {
    throw scopeNotEmpty('the scope already has subjects')
  }
  return observed.ownMode === target ? [] : [{ do: 'put-mode', mode: target, force: spec.force && !closed }]
}

export function scopeNotEmpty(reason: string): TerminalError {
  return new TerminalError('ScopeNotEmpty', `${reason}; force: true enters IMPORT although the scope is not empty`)
}

function planLevel({ spec, status }: Resource<'RegistryMode'>, observed: ObservedMode): readonly RegistryModeStep[] {
  const { compatibility } = spec
  if (compatibility !== undefined) {
    return observed.ownLevel === compatibility ? [] : [{ do: 'put-level', level: compatibility }]
  }
  const applied = status.appliedCompatibility
  return applied !== undefined && applied === observed.ownLevel ? [restoredLevel(status.previousCompatibility)] : []
}

export function restoredLevel(previous: Previous | undefined): RegistryModeStep {
  return previous?.explicit === true && previous.value !== undefined
    ? { do: 'put-level', level: previous.value as CompatibilityLevel }
    : { do: 'delete-level' }
}

/**
 * `IMPORT` is set with `force`: without it, a registry rejects it for a scope with subjects, and purges soft-deleted versions of a
 * scope without others.
 */
export function restoredMode(previous: Previous | undefined): RegistryModeStep {
  return previous?.explicit === true && previous.value !== undefined
    ? { do: 'put-mode', mode: previous.value as Mode, force: previous.value === 'IMPORT' }
    : { do: 'delete-mode' }
}

/**
 * A window opens with the first write, and closes at its end or when the imports are done. Another
 * window needs another id.
 */
function planWindow(
  { spec, status }: Resource<'RegistryMode'>,
  nowMs: number,
  importedMs: number | undefined,
): { readonly window?: Window; readonly endsMs: number } {
  const { window } = spec
  if (window === undefined) return { endsMs: NEVER_MS }
  const known = status.window?.id === window.id ? status.window : undefined
  if (known?.phase === 'Closed') return { window: known, endsMs: NEVER_MS }
  const writtenMs = known?.openedAt === undefined ? nowMs : Date.parse(known.openedAt)
  // An opening time in the future means that the clock was set back. A window must not stay open longer than declared.
  const openedMs = writtenMs > nowMs + CLOCK_SLACK_MS ? nowMs : writtenMs
  const closesMs =
    window.until === undefined ? openedMs + durationMs(window.duration ?? '0s') : Date.parse(window.until)
  const open = { id: window.id, openedAt: new Date(openedMs).toISOString(), closesAt: new Date(closesMs).toISOString() }
  const isForImports = known !== undefined && window.closeWhenImported
  const endsMs = Math.min(closesMs, isForImports ? quietMs(importedMs, nowMs) : NEVER_MS)
  if (endsMs > nowMs) return { window: { ...open, phase: 'Open' }, endsMs }
  return { window: { ...open, phase: 'Closed', closedAt: new Date(nowMs).toISOString() }, endsMs: NEVER_MS }
}

/** When the quiet period after the imports ends. A time in the future means that the clock was set back. */
function quietMs(importedMs: number | undefined, nowMs: number): number {
  if (importedMs === undefined) return NEVER_MS
  return importedMs > nowMs ? nowMs : importedMs + QUIET_MS
}

function readyConditionOf(
  resource: Resource<'RegistryMode'>,
  observed: ObservedMode,
  steps: readonly RegistryModeStep[],
  window: Window | undefined,
): ReadyCondition {
  const otherConditions: ObservedCondition[] = []
  if (window !== undefined) {
    const open = window.phase === 'Open'
    const message = open ? `until ${window.closesAt}` : `closed at ${window.closedAt}`
    otherConditions.push({ type: 'WindowOpen', status: open ? 'True' : 'False', reason: window.phase, message })
  }
  if (steps.length > 0) {
    return {
      status: 'False',
      reason: 'Progressing',
      message: 'setting the mode',
      progress: 'reconciling',
      otherConditions,
    }
  }
  const target = targetMode(resource, window)
  const drifted = target !== undefined && observed.mode !== target
  otherConditions.push(
    drifted
      ? { type: 'Synced', status: 'False', reason: 'Drifted', message: `the mode is ${observed.mode}` }
      : { type: 'Synced', status: 'True', reason: 'Succeeded', message: 'as declared' },
  )
  const until = window?.phase === 'Open' ? ` until ${window.closesAt}` : ''
  const message = target === undefined ? `level ${observed.ownLevel}` : `${observed.mode}${until}`
  return { status: 'True', reason: 'Succeeded', message, otherConditions }
}

function previousOf(own: string | undefined): Previous {
  return own === undefined ? { explicit: false } : { explicit: true, value: own }
}
