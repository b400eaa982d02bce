import { invalidSubject } from './registry-error.ts'

/**
 * A subject's name as it is stored: `orders` in the default context, `:.ctx:orders` in another, `:.ctx:` for the context
 * itself. Only `toSubject` makes one.
 */
export type Subject = string & { readonly __brand: 'Subject' }

export const DEFAULT_CONTEXT = '.'
export const GLOBAL_CONTEXT = '.__GLOBAL'
/** The level above all contexts; only config and mode know it. */
export const GLOBAL = `:${GLOBAL_CONTEXT}:` as Subject
/** In a prefix: every context. */
export const ALL_CONTEXTS = ':*:'

const QUALIFIED = /^:(\.[^:]*):([\s\S]*)$/

export type SubjectParts = { readonly context: string; readonly name: string }

/** The two parts of a name as it was sent or stored. */
export function partsOf(subject: string): SubjectParts {
  const match = QUALIFIED.exec(subject)
  return match
    ? { context: match[1] ?? DEFAULT_CONTEXT, name: match[2] ?? '' }
    : { context: DEFAULT_CONTEXT, name: subject }
}

export function contextOf(subject: string): string {
  return subject.startsWith(':') ? partsOf(subject).context : DEFAULT_CONTEXT
}

/** Gives a name the context it is meant in, unless it brings its own. */
export function toSubject(raw: string, context: string = DEFAULT_CONTEXT): Subject {
  const match = QUALIFIED.exec(raw)
  const own = match?.[1] ?? context
  const name = match ? (match[2] ?? '') : raw
  return (own === DEFAULT_CONTEXT ? name : `:${own}:${name}`) as Subject
}

/** The name that stands for a whole context in config and mode; null for the default one, as its records are stored. */
export function contextSubject(context: string): Subject | null {
  return context === DEFAULT_CONTEXT ? null : (`:${context}:` as Subject)
}

export function isContext(subject: Subject): boolean {
  return subject.startsWith(':') && partsOf(subject).name === ''
}

/** `c`, `.c` and `:.c:` name the same context; undefined when it is none. */
export function toContext(raw: string): string | undefined {
  const bare = raw.startsWith(':') && raw.endsWith(':') && raw.length > 1 ? raw.slice(1, -1) : raw
  const context = bare.startsWith('.') ? bare : `.${bare}`
  return context.includes(':') ? undefined : context
}

/** Whether schemas may live under this name. */
export function checkSubject(subject: Subject, options: { readonly rejectEmpty: boolean }): Subject {
  const { context, name } = partsOf(subject)
  const forbidden = name === '__GLOBAL' || name === '__EMPTY' || context === GLOBAL_CONTEXT || hasControl(subject)
  if (forbidden || (options.rejectEmpty && (name === '' || name === '*'))) throw invalidSubject(subject)
  return subject
}

/** Whether config and mode may be kept under this name: here contexts and the global level are names too. */
export function checkScope(subject: Subject): Subject {
  const { name } = partsOf(subject)
  if (name === '__GLOBAL' || name === '__EMPTY' || hasControl(subject)) throw invalidSubject(subject)
  return subject
}

function hasControl(text: string): boolean {
  return /\p{Cc}/u.test(text)
}
