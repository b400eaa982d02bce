import { UserError } from '../../config/errors.ts'
import type { Catalog, OfKind, PluginKind } from '../../plugins/catalog.ts'
import type { Plugin } from '../../sdk/index.ts'

/** Throws a `UserError` that lists the installed plugins of the kind when the class is not among them. */
export function findPlugin<Kind extends PluginKind>(
  catalog: Catalog,
  kind: Kind,
  className: string,
): OfKind<Plugin, Kind> {
  const plugin = catalog.find(kind, className)
  if (plugin) return plugin
  const installed = catalog.list(kind).map((entry) => entry.class)
  throw new UserError(
    'plugin_missing',
    `there is no ${kind} '${className}' here; there are ${installed.join(', ') || 'none'}`,
  )
}
