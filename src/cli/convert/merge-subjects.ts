import type { ConversionReport } from './conversion-report.ts'
import type { ResourceDraft, SubjectDraft } from './drafts.ts'

/**
 * Weir declares the schema and the compatibility level of a subject in one resource; other systems may declare them in
 * two. Merges the drafts of each subject into the first one that has a schema. A field that is declared twice is
 * reported at the second place.
 */
export function mergeSubjects(drafts: readonly ResourceDraft[], report: ConversionReport): readonly ResourceDraft[] {
  const bySubject = new Map<string, SubjectDraft[]>()
  for (const draft of drafts) {
    if (draft.kind !== 'Subject') continue
    const key = subjectKey(draft)
    bySubject.set(key, [...(bySubject.get(key) ?? []), draft])
  }
  return drafts.flatMap((draft): readonly ResourceDraft[] => {
    if (draft.kind !== 'Subject') return [draft]
    const same = bySubject.get(subjectKey(draft))!
    if (same.length === 1) return [draft]
    const main = same.find(hasSchema) ?? same[0]!
    if (draft !== main) return []
    return [same.filter((each) => each !== main).reduce((merged, other) => merge(merged, other, report), main)]
  })
}

function subjectKey({ subject, registryRef = '', metadata: { namespace = '' } }: SubjectDraft): string {
  return JSON.stringify([namespace, registryRef, subject])
}

function hasSchema({ spec }: SubjectDraft): boolean {
  return spec['schema'] !== undefined || spec['schemaFrom'] !== undefined
}

function merge(main: SubjectDraft, other: SubjectDraft, report: ConversionReport): SubjectDraft {
  const { document, path } = main.origin
  const place = `${document.file}:${document.lineOf(path)}`
  if (hasSchema(other)) {
    const remedy = 'a Subject declares one version: remove this one, or declare earlier versions in spec.imports'
    report.add(
      'failed',
      other.origin.document,
      other.origin.path,
      `subject ${main.subject} is declared at ${place} too; ${remedy}`,
    )
    return main
  }
  for (const [field, value] of Object.entries(other.spec)) {
    const declared = main.spec[field]
    if (value === undefined || declared === undefined || declared === value) continue
    const message = `${field} of subject ${main.subject} is ${String(declared)} at ${place}, which is used`
    report.add('lost', other.origin.document, other.origin.path, message)
  }
  const others = Object.fromEntries(Object.entries(other.spec).filter(([field]) => main.spec[field] === undefined))
  return { ...main, spec: { ...main.spec, ...others } }
}
