import { useEffect, useMemo, useState } from 'preact/hooks'
import { counted } from '../../../common/counted.ts'
import { request } from '../api.ts'
import { VirtualTable } from '../components/virtual-table.ts'
import { html } from '../html.ts'
import { hrefOf, pageLocation } from '../location.ts'
import type { Runtime } from '../session.ts'
import { filterVersions, readVersionRows, type VersionRow } from '../version-rows.ts'
import type { RegisteredVersion } from '../wire.ts'

/** The versions of all subjects, read once in pages. The filters are those of the list of subjects. */
export function VersionList({ runtime }: { readonly runtime: Runtime }) {
  const [rows, setRows] = useState<readonly VersionRow[]>([])
  const [state, setState] = useState<'reading' | 'complete' | 'failed'>('reading')
  const [error, setError] = useState('')
  const [reads, setReads] = useState(0)
  const { filters } = pageLocation.value
  const deleted = filters['deleted'] === 'true' ? '&deleted=true' : ''
  useEffect(() => {
    let isShown = true
    setState('reading')
    const readPage = (offset: number, limit: number) =>
      request<readonly RegisteredVersion[]>(
        'GET',
        `${runtime.basePath}/schemas?subjectPrefix=:*:${deleted}&offset=${offset}&limit=${limit}`,
      )
    readVersionRows(
      readPage,
      (found) => isShown && setRows(found),
      () => !isShown,
    ).then(
      () => isShown && setState('complete'),
      (reason) => {
        if (!isShown) return
        setState('failed')
        setError(reason instanceof Error ? reason.message : String(reason))
      },
    )
    return () => {
      isShown = false
    }
  }, [runtime.basePath, deleted, reads])
  const { search = '', context = '' } = filters
  const shown = useMemo(() => filterVersions(rows, { search, context }), [rows, search, context])
  return html`
    <p role="status" aria-live=${state === 'reading' ? 'off' : undefined}>${shown.length.toLocaleString('en')} of ${counted(rows.length, 'version')}${state === 'reading' ? ', reading …' : ''}
      ${state !== 'reading' && html` <button onClick=${() => setReads(reads + 1)}>Read again</button>`}</p>
    ${state === 'failed' && html`<p class="error" role="alert">The list is not complete: ${error}</p>`}
    <${VirtualTable}
      label="Versions"
      rows=${shown}
      keyOf=${({ subject, version }: VersionRow) => `${subject} ${version}`}
      empty=${state === 'reading' ? 'Loading …' : 'No version matches.'}
      columns=${[
        {
          title: 'Subject',
          width: 4,
          cell: ({ subject, version }: VersionRow) =>
            html`<a href=${hrefOf(['subjects', subject], { runtime: runtime.name, version: String(version) })}>${subject}</a>`,
        },
        { title: 'Version', isNumber: true, cell: ({ version }: VersionRow) => version },
        { title: 'ID', isNumber: true, cell: ({ id }: VersionRow) => id },
        { title: 'Type', cell: ({ schemaType }: VersionRow) => schemaType },
      ]}
    />
  `
}
