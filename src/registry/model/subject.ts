import {
  contextOf,
  DEFAULT_CONTEXT,
  GLOBAL_CONTEXT,
  qualifySubject,
  splitSubject,
} from '../../formats/qualified-subject.ts'
import { invalidSubject } from './registry-error.ts'

/**
 * A qualified subject name: `orders` in the default context, `:.ctx:orders` in another, `:.ctx:` for the context
 * itself. Create one with `toSubject`.
 */
export type Subject = string & { readonly __brand: 'Subject' }

/** The scope above all contexts. Only config and mode use it. */
export const GLOBAL = `:${GLOBAL_CONTEXT}:` as Subject
/** The subject prefix that matches every context. */
export const ALL_CONTEXTS = ':*:'

/** Qualifies a name with `context`, unless the name already has a context. */
export function toSubject(raw: string, context?: string): Subject {
  return qualifySubject(raw, context) as Subject
}

/** The subject of a context's config and mode; null for the default context, as in its records. */
export function contextSubject(context: string): Subject | null {
  return context === DEFAULT_CONTEXT ? null : (`:${context}:` as Subject)
}

export function isContext(subject: Subject): boolean {
  return subject.startsWith(':') && splitSubject(subject).name === ''
}

/** Whether the scope of a config, mode or clear record includes the subject; null includes everything. */
export function isWithin(subject: Subject, scope: Subject | null): boolean {
  return scope === null || subject === scope || (isContext(scope) && contextOf(scope) === contextOf(subject))
}

/** Parses a context name: `c`, `.c` and `:.c:` are the same context. Undefined if the name is invalid. */
export function toContext(raw: string): string | undefined {
  const bare = raw.startsWith(':') && raw.endsWith(':') && raw.length > 1 ? raw.slice(1, -1) : raw
  const context = bare.startsWith('.') ? bare : `.${bare}`
  return context.includes(':') ? undefined : context
}

/** Returns `subject`. Throws `invalid_subject` if schemas cannot be registered under this name. */
export function checkSubject(subject: Subject, options: { readonly rejectEmpty: boolean }): Subject {
  const { context, name } = splitSubject(subject)
  const forbidden = name === '__GLOBAL' || name === '__EMPTY' || context === GLOBAL_CONTEXT || hasControl(subject)
  if (forbidden || (options.rejectEmpty && (name === '' || name === '*'))) throw invalidSubject(subject)
  return subject
}

/**
 * Returns `subject`. Throws `invalid_subject` if it cannot have a config or mode. Contexts and `GLOBAL` are valid here.
 */
export function checkScope(subject: Subject): Subject {
  const { name } = splitSubject(subject)
  if (name === '__GLOBAL' || name === '__EMPTY' || hasControl(subject)) throw invalidSubject(subject)
  return subject
}

function hasControl(text: string): boolean {
  return /\p{Cc}/u.test(text)
}
