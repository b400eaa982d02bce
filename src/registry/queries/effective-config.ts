import type { Mode } from '../../clients/registry-client.ts'
import { contextOf } from '../../formats/qualified-subject.ts'
import { contextSubject, GLOBAL, type Subject } from '../model/subject.ts'
import { type Config, inheritConfig } from '../model/subject-config.ts'
import type { RegistryView } from '../store/registry-view.ts'

export type EffectiveConfig = Config & Required<Pick<Config, 'compatibilityLevel'>>
export type Defaults = { readonly config: EffectiveConfig; readonly mode: Mode }

/**
 * The effective config of a subject: its own config, completed with the global one; otherwise that of its context, of
 * all contexts (`GLOBAL`), or the server's defaults. A subject whose own config has no level uses the server's default
 * level.
 */
export function configInScope(view: RegistryView, subject: Subject | null, defaults: Defaults): EffectiveConfig {
  const own = subject === null ? undefined : view.config(subject)
  if (own) return { ...defaults.config, ...inheritConfig(own, view.config(null) ?? {}) }
  const around = view.config(contextScope(subject)) ?? view.config(GLOBAL)
  return { ...defaults.config, ...around }
}

export function modeInScope(view: RegistryView, subject: Subject | null, defaults: Defaults): Mode {
  const own = subject === null ? undefined : view.mode(subject)
  return own ?? view.mode(contextScope(subject)) ?? view.mode(GLOBAL) ?? defaults.mode
}

function contextScope(subject: Subject | null): Subject | null {
  return subject === null ? null : contextSubject(contextOf(subject))
}
