import { registerHooks } from 'node:module'
import { entryPoint } from '../common/program-files.ts'
import type { Plugin } from '../sdk/index.ts'

/** The SDK of this installation. All plugins in a process use it, wherever they are installed. */
const SDK = entryPoint('sdk/index').href

let isHooked = false

/** Imports a module and returns the plugins that it exports. Rejects with an `Error` that describes the problem. */
export async function importPlugins(url: string): Promise<readonly Plugin[]> {
  hookSdk()
  const plugins = exportedPlugins((await import(url)) as object)
  for (const plugin of plugins) checkPlugin(plugin)
  if (plugins.length > 0) return plugins
  throw new Error(
    "exports no plugin: export the results of the SDK's defineSource, defineSink, defineTransform or another define function",
  )
}

/** The plugins that a module exports, also in arrays. */
export function exportedPlugins(module: object): readonly Plugin[] {
  return [...new Set(Object.values(module).flat().filter(isLikePlugin))]
}

/** Resolves `weir/sdk` for plugins that do not have it installed. Must run once in each process. */
function hookSdk(): void {
  if (isHooked) return
  isHooked = true
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'weir/sdk' ? { url: SDK, shortCircuit: true } : next(specifier, context),
  })
}

function isLikePlugin(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && 'kind' in value && 'class' in value
}

/** The function that a plugin of each kind must define. */
const WORK: Readonly<Record<Plugin['kind'], string>> = {
  source: 'poll',
  sink: 'start',
  converter: 'create',
  header_converter: 'create',
  transformation: 'create',
  predicate: 'create',
  provider: 'create',
}

function checkPlugin(known: Plugin): void {
  // A module may export anything.
  const plugin = known as unknown as Readonly<Record<string, unknown>>
  const name = String(plugin['class'])
  const work = Object.hasOwn(WORK, String(plugin['kind'])) ? WORK[plugin['kind'] as Plugin['kind']] : undefined
  if (work === undefined) throw new Error(`${name} has an unknown kind: '${plugin['kind']}'`)
  for (const member of ['class', 'version', 'summary']) {
    if (typeof plugin[member] !== 'string' || plugin[member] === '') throw new Error(`${name} has no ${member}`)
  }
  if (typeof plugin[work] !== 'function') throw new Error(`${name} has no function ${work}`)
  const { config } = plugin as { config?: { shape?: unknown } }
  if (typeof config?.shape !== 'object')
    throw new Error(`${name} has no config: set it to z.object({}) if there are no configuration keys`)
}
