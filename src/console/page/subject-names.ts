/** A subject as the registry names it, and its parts. The default context is `.`. */
export type SubjectName = { readonly qualified: string; readonly context: string; readonly name: string }

const QUALIFIED = /^:([^:]*):([\s\S]*)$/

export function parseSubject(qualified: string): SubjectName {
  const [, context = '.', name = qualified] = QUALIFIED.exec(qualified) ?? []
  return { qualified, context, name }
}
