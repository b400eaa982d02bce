/** A subject as the registry names it, and its parts. The default context is `.`. */
export type SubjectName = { readonly qualified: string; readonly context: string; readonly name: string }

const QUALIFIED = /^:([^:]*):([\s\S]*)$/

export function parseSubject(qualified: string): SubjectName {
  const [, context = '.', name = qualified] = QUALIFIED.exec(qualified) ?? []
  return { qualified, context, name }
}

/** `search` matches all of its words in the name; `context` is equal. */
export function filterSubjects(
  subjects: readonly SubjectName[],
  { search = '', context = '' }: Readonly<Record<string, string>>,
): readonly SubjectName[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return subjects.filter(
    (subject) =>
      (context === '' || subject.context === context) &&
      words.every((word) => subject.qualified.toLowerCase().includes(word)),
  )
}
