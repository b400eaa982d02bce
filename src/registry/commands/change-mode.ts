import { type Mode, REGISTRY_MODES } from '../../clients/registry-client.ts'
import { contextOf } from '../../formats/qualified-subject.ts'
import { invalidMode, notPermitted, referenceExists, subjectNotFound } from '../model/registry-error.ts'
import { GLOBAL, isContext, isWithin, type Subject } from '../model/subject.ts'
import { modeInScope } from '../queries/effective-config.ts'
import type { RegistryView } from '../store/registry-view.ts'
import type { Decision, DecisionContext } from './decision-types.ts'
import { checkModeMutable } from './mode-checks.ts'

/** Parses a mode, in any case; null removes the mode. Throws `invalid_mode`. */
export function parseMode(word: unknown): Mode | null {
  if (word === null) return null
  const mode = typeof word === 'string' ? REGISTRY_MODES.find((known) => known === word.toUpperCase()) : undefined
  if (!mode) throw invalidMode()
  return mode
}

/**
 * Sets the mode of a subject, of a context, or of the global scope. Unless `force` is set, entering IMPORT requires a
 * scope without live versions, and hard-deletes the soft-deleted ones so that their IDs cannot conflict with imported
 * IDs. Throws `not_permitted`, `invalid_mode` or `reference_exists`.
 */
export function decideMode(
  context: DecisionContext,
  subject: Subject | null,
  mode: Mode | null,
  options: { readonly force: boolean },
): Decision<Mode | null> {
  const { view, defaults } = context
  checkModeMutable(context.modesMutable)
  if (mode === 'FORWARD' && subject !== GLOBAL) throw invalidMode('Forward mode only supported on global level')
  const change = { kind: 'mode', subject, value: mode } as const
  const entersImport = mode === 'IMPORT' && modeInScope(view, subject, defaults) !== 'IMPORT' && !options.force
  return { records: [...(entersImport ? clearScope(view, subject) : []), change], answer: mode }
}

/**
 * Deletes the mode of a scope. `recursive` also deletes those of all subjects in the scope. The answer is the old mode.
 */
export function decideDeleteMode(
  context: DecisionContext,
  subject: Subject | null,
  options: { readonly recursive: boolean },
): Decision<Mode> {
  const { view, defaults } = context
  const stored = view.mode(subject)
  if (stored === undefined && subject !== null && !options.recursive) throw subjectNotFound(subject)
  checkModeMutable(context.modesMutable)
  const within = options.recursive ? view.modeSubjects().filter((one) => one !== subject && isInside(one, subject)) : []
  return {
    records: [subject, ...within].map((one) => ({ kind: 'mode', subject: one, value: null }) as const),
    answer: stored ?? defaults.mode,
  }
}

function clearScope(view: RegistryView, subject: Subject | null): Decision<unknown>['records'] {
  const scope = subject === GLOBAL ? null : subject
  const subjects = [...view.subjects()].filter((one) => isWithin(one, scope))
  if (subjects.some((one) => view.isLive(one))) throw notPermitted('Cannot import since found existing subjects')
  const versions = subjects.flatMap((one) => view.versions(one))
  for (const { subject: one, version } of versions) {
    if (view.referrers(one, version).length > 0) throw referenceExists(one, version)
  }
  return [
    ...versions.map((one) => ({ kind: 'schema', subject: one.subject, version: one.version, value: null }) as const),
    { kind: 'clear-subject', subject: scope },
  ]
}

/** Whether a subject or context is inside a scope: null is the default context, `GLOBAL` contains everything. */
function isInside(one: Subject | null, scope: Subject | null): boolean {
  if (one === null || scope === GLOBAL) return scope === GLOBAL
  if (scope === null) return contextOf(one) === '.'
  return isContext(scope) && contextOf(one) === contextOf(scope)
}
