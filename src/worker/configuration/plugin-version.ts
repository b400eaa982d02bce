import { messageOf } from '../../common/errors.ts'
import { parseVersionRequirement } from '../../java-compat/maven-version-range.ts'
import { type Catalog, listedName, type NamedPlugin, type PluginKind } from '../../plugins/plugin-catalog.ts'

/**
 * Why no installed version of a plugin meets the value of a `plugin.version` key, in Kafka Connect's words. Undefined if
 * one does, or if the plugin is not installed at all.
 */
export function versionProblem<Item extends NamedPlugin>(
  plugins: Pick<Catalog<Item>, 'find' | 'versionsOf'>,
  kind: PluginKind,
  name: string,
  requirement: string | undefined,
): string | undefined {
  const problem = versionKeyProblem(plugins, kind, name, requirement)
  if (problem?.isSyntax !== true) return problem?.message
  const latest = plugins.find(kind, name) as NamedPlugin
  return `Invalid version ${requirement} of plugin ${listedName(latest)}: ${problem.message}`
}

/** The same for a message beside the key: `isSyntax` if the value is not a version range, which the message does not repeat. */
export function versionKeyProblem<Item extends NamedPlugin>(
  plugins: Pick<Catalog<Item>, 'find' | 'versionsOf'>,
  kind: PluginKind,
  name: string,
  requirement: string | undefined,
): { readonly message: string; readonly isSyntax: boolean } | undefined {
  const latest = plugins.find(kind, name) as NamedPlugin | undefined
  if (latest === undefined || requirement === undefined || plugins.find(kind, name, requirement)) return undefined
  try {
    const range = parseVersionRequirement(requirement).text
    const versions = plugins.versionsOf(kind, name).join(', ')
    return {
      message: `Plugin ${listedName(latest)} not found that matches the version range ${range}, available versions: [${versions}]`,
      isSyntax: false,
    }
  } catch (error) {
    return { message: messageOf(error), isSyntax: true }
  }
}
