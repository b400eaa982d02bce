import type { RegisteredVersion } from './wire.ts'

/** A row of the list of all versions. The schema text is not kept, because there can be many. */
export type VersionRow = {
  readonly subject: string
  readonly version: number
  readonly id: number
  readonly schemaType: string
}

export const PAGE_SIZE = 1_000

/**
 * Reads the versions of all subjects in pages, and passes on all rows so far after each page. A page that is not full is
 * the last one.
 */
export async function readVersionRows(
  readPage: (offset: number, limit: number) => Promise<readonly RegisteredVersion[]>,
  onRows: (rows: readonly VersionRow[]) => void,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const rows: VersionRow[] = []
  for (;;) {
    const page = await readPage(rows.length, PAGE_SIZE)
    if (isStopped()) return
    for (const { subject, version, id, schemaType = 'AVRO' } of page) rows.push({ subject, version, id, schemaType })
    onRows(rows.slice())
    if (page.length < PAGE_SIZE) return
  }
}

/** `search` matches all of its words in the subject, or `id:7` the ID; `context` is equal. */
export function filterVersions(
  rows: readonly VersionRow[],
  { search = '', context = '' }: Readonly<Record<string, string>>,
): readonly VersionRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const prefix = `:${context}:`
  const isInContext = ({ subject }: VersionRow) =>
    context === '' || (context === '.' ? !subject.startsWith(':') : subject.startsWith(prefix))
  return rows.filter(
    (row) =>
      isInContext(row) &&
      words.every((word) =>
        word.startsWith('id:') ? `id:${row.id}` === word : row.subject.toLowerCase().includes(word),
      ),
  )
}
