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
  const latest = plugins.find(kind, name) as NamedPlugin | undefined
  if (latest === undefined || requirement === undefined || plugins.find(kind, name, requirement)) return undefined
  try {
    const range = parseVersionRequirement(requirement).text
    const versions = plugins.versionsOf(kind, name).join(', ')
    return `Plugin ${listedName(latest)} not found that matches the version range ${range}, available versions: [${versions}]`
  } catch (error) {
    return `Invalid version ${requirement} of plugin ${listedName(latest)}: ${messageOf(error)}`
  }
}
