import { type Config, type ConfigUpdate, updateConfig } from './config.ts'
import type { Decision, Grounds } from './decision.ts'
import { subjectNotFound } from './failure.ts'
import { checkWritable } from './scope.ts'
import type { Subject } from './subject.ts'

/** Changes the config of a subject, of a context, or of everything (null). Answers what is stored then. */
export function decideConfig(
  { view, defaults }: Grounds,
  subject: Subject | null,
  update: ConfigUpdate,
): Decision<Config> {
  checkWritable(view, subject, defaults)
  const value = updateConfig(view.config(subject), update)
  return { records: [{ kind: 'config', subject, value }], answer: value }
}

/** Answers what was stored. */
export function decideDeleteConfig({ view, defaults }: Grounds, subject: Subject | null): Decision<Config> {
  const stored = view.config(subject)
  if (!stored && subject !== null) throw subjectNotFound(subject)
  checkWritable(view, subject, defaults)
  return { records: [{ kind: 'config', subject, value: null }], answer: { ...defaults.config, ...stored } }
}
