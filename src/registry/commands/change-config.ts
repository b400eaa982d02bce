import { subjectNotFound } from '../model/registry-error.ts'
import type { Subject } from '../model/subject.ts'
import { type Config, type ConfigUpdate, updateConfig } from '../model/subject-config.ts'
import type { Decision, DecisionContext } from './decision-types.ts'
import { checkWritable } from './mode-checks.ts'

/** Changes the config of a subject, of a context, or of the global scope (null). The answer is the new config. */
export function decideConfig(
  { view, defaults }: DecisionContext,
  subject: Subject | null,
  update: ConfigUpdate,
): Decision<Config> {
  checkWritable(view, subject, defaults)
  const value = updateConfig(view.config(subject), update)
  return { records: [{ kind: 'config', subject, value }], answer: value }
}

/** Deletes the config of a scope. The answer is the deleted config, completed with the defaults. */
export function decideDeleteConfig({ view, defaults }: DecisionContext, subject: Subject | null): Decision<Config> {
  const stored = view.config(subject)
  if (!stored && subject !== null) throw subjectNotFound(subject)
  checkWritable(view, subject, defaults)
  return { records: [{ kind: 'config', subject, value: null }], answer: { ...defaults.config, ...stored } }
}
