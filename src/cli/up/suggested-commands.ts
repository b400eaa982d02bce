import type { ResourceRow } from '../../operator/main.ts'

/** Commands that show a newcomer what runs, taken from what does. */
export function suggestCommands(
  rows: readonly ResourceRow[],
  urls: { readonly registryUrl: string; readonly workerUrl: string },
): readonly string[] {
  const ready = rows.filter((row) => row.ready === 'True')
  const subject = ready.find(({ kind }) => kind === 'Subject')?.resource
  const sink = ready.find(
    ({ resource }) => resource?.kind === 'Connector' && /FileStreamSink/.test(resource.spec.class),
  )
  const hints: string[] = []
  if (sink?.resource?.kind === 'Connector') {
    const file = sink.resource.spec.config?.['file']
    if (file !== undefined) hints.push(`tail -f ${file}`)
  }
  if (subject?.kind === 'Subject') {
    const name = encodeURIComponent(subject.spec.subject ?? subject.metadata.name)
    hints.push(`curl ${urls.registryUrl}/subjects/${name}/versions/latest`)
  }
  hints.push(`curl '${urls.workerUrl}/connectors?expand=status'`)
  return hints
}
