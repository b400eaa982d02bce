import type { SubjectUse } from '../../common/topic-use.ts'
import { compareText, sortRows } from './sort-rows.ts'
import { parseSubject, type SubjectName } from './subject-names.ts'

/** A row of `GET /ui/api/subjects`. A registry of another vendor has no such list, so only names are known of its subjects. */
export type SubjectSummary = readonly [
  subject: string,
  type?: string,
  version?: number,
  id?: number,
  versions?: number,
  level?: string,
  hasOwnLevel?: boolean,
  changedMs?: number,
  isDeleted?: boolean,
]

/** A subject as the list shows it. */
export type ListedSubject = SubjectName & {
  readonly type: string
  /** Undefined where it is unknown. */
  readonly version: number | undefined
  readonly id: number | undefined
  readonly versions: number | undefined
  readonly level: string
  /** Whether the level is its own, or that of its context or of all subjects. */
  readonly hasOwnLevel: boolean
  readonly changedMs: number
  readonly isDeleted: boolean
}

export function subjectRow(summary: SubjectSummary): ListedSubject {
  const [subject, type = '', version, id, versions, level = '', hasOwnLevel = false, changedMs = 0, isDeleted = false] =
    summary
  return { ...parseSubject(subject), type, version, id, versions, level, hasOwnLevel, changedMs, isDeleted }
}

/** `search` matches all of its words in the name or, as `id:7`, the ID; `used:orders` in what uses it. Other filters must be equal. */
export function filterSubjectRows(
  rows: readonly ListedSubject[],
  filters: Readonly<Record<string, string>>,
  useOf: (subject: string) => SubjectUse,
): readonly ListedSubject[] {
  const { search = '', context = '', type = '', level = '' } = filters
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const matches = (row: ListedSubject, word: string) => {
    if (word.startsWith('id:')) return `id:${row.id}` === word
    if (!word.startsWith('used:')) return row.qualified.toLowerCase().includes(word)
    const { topics, connectors } = useOf(row.qualified)
    return [...topics, ...connectors].some((name) => name.toLowerCase().includes(word.slice('used:'.length)))
  }
  return rows.filter(
    (row) =>
      (context === '' || row.context === context) &&
      (type === '' || row.type === type) &&
      (level === '' || row.level === level) &&
      words.every((word) => matches(row, word)),
  )
}

/** `sort` is `name`, `type`, `id`, `level`, or with the highest first `version` or `changed`; in the other order with `-` before it. */
export function sortSubjectRows(rows: readonly ListedSubject[], sort: string): readonly ListedSubject[] {
  const orders = {
    type: (a: ListedSubject, b: ListedSubject) => compareText(a.type, b.type),
    id: (a: ListedSubject, b: ListedSubject) => (a.id ?? 0) - (b.id ?? 0),
    level: (a: ListedSubject, b: ListedSubject) => compareText(a.level, b.level),
    version: (a: ListedSubject, b: ListedSubject) => (b.version ?? 0) - (a.version ?? 0),
    changed: (a: ListedSubject, b: ListedSubject) => b.changedMs - a.changedMs,
  }
  // The default context is first.
  return sortRows(rows, sort, orders, ({ context, name }) => (context === '.' ? ` ${name}` : `${context} ${name}`))
}
