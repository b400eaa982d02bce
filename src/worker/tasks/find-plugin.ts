import { UserError } from '../../common/errors.ts'
import type { Catalog, NamedPlugin, OfKind, PluginKind } from '../../plugins/plugin-catalog.ts'
import type { Plugin } from '../../sdk/index.ts'
import { versionProblem } from '../configuration/plugin-version.ts'

/** Throws a `UserError` that lists the installed plugins of the kind, or the versions, when none is as required. */
export function findPlugin<Kind extends PluginKind, Item extends NamedPlugin = Plugin>(
  catalog: Catalog<Item>,
  kind: Kind,
  className: string,
  version: string | undefined,
): OfKind<Item, Kind> {
  const plugin = catalog.find(kind, className, version)
  if (plugin) return plugin
  const problem = versionProblem(catalog, kind, className, version)
  if (problem !== undefined) throw new UserError('plugin_missing', problem)
  const installed = catalog.list(kind).map((entry) => entry.class)
  throw new UserError(
    'plugin_missing',
    `there is no ${kind} '${className}' here; there are ${installed.join(', ') || 'none'}`,
  )
}
