export const DEFAULT_CONTEXT = '.'
/** The context above all others. Only config and mode use it. */
export const GLOBAL_CONTEXT = '.__GLOBAL'

/** A subject name: `orders` in the default context, `:.ctx:orders` in another, `:.ctx:` for the context itself. */
const QUALIFIED = /^:(\.[^:]*):([\s\S]*)$/

export type SubjectParts = { readonly context: string; readonly name: string }

/** Splits a subject name into context and unqualified name. */
export function splitSubject(subject: string): SubjectParts {
  const [, context = DEFAULT_CONTEXT, name = subject] = QUALIFIED.exec(subject) ?? []
  return { context, name }
}

export function contextOf(subject: string): string {
  return subject.startsWith(':') ? splitSubject(subject).context : DEFAULT_CONTEXT
}

/** Qualifies a name with `context`, unless the name already has a context. Names of the default context have no prefix. */
export function qualifySubject(subject: string, context: string = DEFAULT_CONTEXT): string {
  if (context === DEFAULT_CONTEXT && !subject.startsWith(':')) return subject
  const [, own = context, name = subject] = QUALIFIED.exec(subject) ?? []
  return own === DEFAULT_CONTEXT ? name : `:${own}:${name}`
}

/** The subject that a schema of another subject names: without a context of its own, it is in the context of that one. */
export function subjectBeside(parent: string | undefined, subject: string): string {
  const isRelative = parent?.startsWith(':') === true && !subject.startsWith(':')
  return isRelative ? qualifySubject(subject, contextOf(parent)) : subject
}
