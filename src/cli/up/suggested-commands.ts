import type { ResourceRow } from '../../operator/main.ts'

/** Shell commands to inspect the running connectors and subjects. */
export function suggestCommands(
  rows: readonly ResourceRow[],
  urls: { readonly registryUrl: string; readonly workerUrl: string },
): readonly string[] {
  const ready = rows.filter((row) => row.ready === 'True')
  const subject = ready.find(({ kind }) => kind === 'Subject')?.resource
  const sink = ready.find(
    ({ resource }) => resource?.kind === 'Connector' && /FileStreamSink/.test(resource.spec.class),
  )
  const commands: string[] = []
  if (sink?.resource?.kind === 'Connector') {
    const file = sink.resource.spec.config?.['file']
    if (file !== undefined) commands.push(`tail -f ${file}`)
  }
  if (subject?.kind === 'Subject') {
    const name = encodeURIComponent(subject.spec.subject ?? subject.metadata.name)
    commands.push(`curl ${urls.registryUrl}/subjects/${name}/versions/latest`)
  }
  commands.push(`curl '${urls.workerUrl}/connectors?expand=status'`)
  return commands
}
