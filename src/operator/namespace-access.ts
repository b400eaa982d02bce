import { DEFAULT_CONTEXT, splitSubject } from '../formats/qualified-subject.ts'
import { TerminalError } from './controller/reconcile-error.ts'
import type { RegistryRuntimeConfig } from './runtimes.ts'

/** The default context in the registry's API and in the configuration. */
const DEFAULT_CONTEXT_NAME = '.default'

/**
 * Throws `TerminalError` unless the configuration allows a namespace to use this scope of a registry: a subject,
 * `:.ctx:` for a context, or undefined for the registry itself, which is its default context.
 */
export function assertNamespaceAccess(
  runtimeConfig: RegistryRuntimeConfig,
  namespace: string,
  scope: string | undefined,
): void {
  const { context, name } = splitSubject(scope ?? '')
  const contexts = runtimeConfig.contexts[namespace] ?? runtimeConfig.contexts['*']
  if (contexts !== undefined && !contexts.map(stored).includes(context)) {
    throw notAllowed(
      runtimeConfig,
      `namespace ${namespace} may use only the contexts ${contexts.join(', ')}, not ${shown(context)}`,
    )
  }
  const prefixes = runtimeConfig.subjectPrefixes[namespace]
  if (prefixes === undefined || prefixes.some((prefix) => name.startsWith(prefix))) return
  const rule = `namespace ${namespace} may use only subjects that begin with ${prefixes.join(' or ')}`
  throw notAllowed(runtimeConfig, name === '' ? `${rule}, and may not change settings of the whole context` : rule)
}

function stored(context: string): string {
  return context === DEFAULT_CONTEXT_NAME ? DEFAULT_CONTEXT : context
}

function shown(context: string): string {
  return context === DEFAULT_CONTEXT ? DEFAULT_CONTEXT_NAME : context
}

function notAllowed({ name }: RegistryRuntimeConfig, why: string): TerminalError {
  return new TerminalError('NotAllowed', `registry ${name}: ${why}`)
}
