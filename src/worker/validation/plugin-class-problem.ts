import type { PluginKind } from '../../plugins/plugin-catalog.ts'
import type { PluginCatalog } from '../plugin-host.ts'
import { classRemedy } from './class-remedies.ts'

type StepKind = 'transformation' | 'predicate' | 'converter' | 'header_converter'

const INTERFACES: Readonly<Record<StepKind, string>> = {
  transformation: 'Transformation',
  predicate: 'Predicate',
  converter: 'Converter',
  header_converter: 'HeaderConverter',
}
const OTHER_KINDS: readonly PluginKind[] = ['source', 'sink', 'provider']

/** Why a class is no plugin of a kind. The value of the key is shown only if the class exists. */
export type PluginClassProblem = {
  readonly message: string
  readonly exists: boolean
  /** What to do; undefined if that is not known. */
  readonly remedy?: string | undefined
}

/** The error, and what to do about it, if that is known. */
export function problemLines({ message, remedy }: PluginClassProblem): readonly string[] {
  return remedy === undefined ? [message] : [message, remedy]
}

/** Why the class that a key names is no plugin of the kind, in Kafka Connect's words, or undefined if it is one. */
export function pluginClassProblem(
  catalog: PluginCatalog,
  kind: StepKind,
  key: string,
  className: string,
): PluginClassProblem | undefined {
  if (catalog.find(kind, className)) return undefined
  const kinds = [...(Object.keys(INTERFACES) as StepKind[]), ...OTHER_KINDS]
  if (className.includes('.') && kinds.some((other) => catalog.find(other, className))) {
    return { message: `Class class ${className} does not implement the ${INTERFACES[kind]} interface`, exists: true }
  }
  const nested = catalog.list(kind).map((entry) => entry.class)
  const meant = nested.filter((name) => name.startsWith(`${className}$`))
  if (meant.length > 0) {
    return {
      message: `This class is abstract and cannot be created. Did you mean ${meant.join(', ')}?`,
      exists: true,
    }
  }
  return {
    message: `Invalid value ${className} for configuration ${key}: Class ${className} could not be found.`,
    exists: false,
    remedy: classRemedy(className),
  }
}
