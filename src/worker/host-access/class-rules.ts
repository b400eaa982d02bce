import type { Catalog, NamedPlugin } from '../../plugins/plugin-catalog.ts'
import { matchesWildcard } from '../../regex/wildcard.ts'

/** Connector class names, with wildcards (`*`). */
export type ClassPolicy = {
  /** Undefined: all connectors that are not denied. */
  readonly allowed: readonly string[] | undefined
  readonly denied: readonly string[]
}

/** Returns a catalog without the connectors that are not allowed, under any of their names. */
export function restrictConnectors<Item extends NamedPlugin>(
  catalog: Catalog<Item>,
  policy: ClassPolicy,
): Catalog<Item> {
  if (policy.allowed === undefined && policy.denied.length === 0) return catalog
  const reasons = new Map<string, string>()
  for (const kind of ['source', 'sink'] as const) {
    for (const { class: name } of catalog.list(kind)) {
      const plugin = catalog.find(kind, name)
      const reason = plugin && refusalOf(policy, catalog.namesOf(plugin as Item))
      if (reason !== undefined) reasons.set(classOf(plugin!), reason)
    }
  }
  const isUsable = (plugin: NamedPlugin | undefined) => plugin === undefined || !reasons.has(classOf(plugin))
  return {
    ...catalog,
    find: (kind, name, requirement) => {
      const found = catalog.find(kind, name, requirement)
      return isUsable(found) ? found : undefined
    },
    list: (kind) => catalog.list(kind).filter((entry) => isUsable(catalog.find(entry.type, entry.class))),
    refusal: (kind, name) => {
      const found = catalog.find(kind, name)
      return found && reasons.get(classOf(found))
    },
  }
}

/** The same for all versions of a class. */
function classOf(plugin: NamedPlugin): string {
  return `${plugin.kind} ${plugin.class}`
}

function refusalOf({ allowed, denied }: ClassPolicy, names: readonly string[]): string | undefined {
  const isListed = (globs: readonly string[]) => globs.some((glob) => names.some((name) => matchesWildcard(glob, name)))
  if (isListed(denied)) return "connector.classes.denied has it in the worker's settings"
  if (allowed === undefined || isListed(allowed)) return undefined
  return "connector.classes.allowed does not have it in the worker's settings"
}
