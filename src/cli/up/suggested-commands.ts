import type { ResourceRow } from '../../operator/main.ts'

/** What a shell reads as one word, without quotes. */
const PLAIN_WORD = /^[\w./:-]+$/

/** How the user starts `weir`: in a checkout it is a script of npm. */
export function commandName(environment: NodeJS.ProcessEnv = process.env): string {
  return ['start', 'weir'].includes(environment['npm_lifecycle_event'] ?? '') ? 'npm run -s weir --' : 'weir'
}

/** Shell commands to try on what runs: at most three, which work as they are. `weir`: how the user starts it. */
export function suggestCommands(rows: readonly ResourceRow[], weir: string): readonly string[] {
  const ready = rows.flatMap(({ ready, resource }) => (ready === 'True' && resource !== undefined ? [resource] : []))
  const connectors = ready.flatMap((resource) => (resource.kind === 'Connector' ? [resource] : []))
  const configs = connectors.map(({ spec: { config = {} } }) => config)
  const file = connectors.find(({ spec }) => /FileStreamSink/.test(spec.class))?.spec.config?.['file']
  const topic = configs.flatMap(({ topics = '' }) => topics.split(',')[0]!.trim()).find((name) => name !== '')
  const subject = ready.find(({ kind }) => kind === 'Subject')
  const subjectName = subject?.kind === 'Subject' ? (subject.spec.subject ?? subject.metadata.name) : undefined
  const words = [
    [file, (word: string) => `tail -f ${word}`],
    [topic, (word: string) => `${weir} topic peek ${word}`],
    [connectors[0]?.spec.name ?? connectors[0]?.metadata.name, (word: string) => `${weir} describe connector/${word}`],
    [subjectName, (word: string) => `${weir} describe subject/${word}`],
  ] as const
  return words.flatMap(([word, of]) => (word !== undefined && PLAIN_WORD.test(word) ? [of(word)] : [])).slice(0, 3)
}
