import type { Plugin } from '../sdk/index.ts'
import type { ConnectorChains } from './connector-chains.ts'
import type { JavaModule } from './java-module.ts'
import { javaSink } from './java-sink.ts'
import { javaSource } from './java-source.ts'
import { pluginInfo } from './plugin-info.ts'
import type { JavaPluginDescription } from './plugin-location.ts'

/** The plugins of a location as plugins of the SDK, for a thread that runs tasks. */
export function javaPlugins(module: JavaModule, chains: ConnectorChains): readonly Plugin[] {
  return module.plugins.flatMap((description) => toPlugin(module, description, chains) ?? [])
}

function toPlugin(module: JavaModule, description: JavaPluginDescription, chains: ConnectorChains): Plugin | undefined {
  const { kind } = description
  switch (kind) {
    case 'source':
      return javaSource(module, description, chains)
    case 'sink':
      return javaSink(module, description, chains)
    case 'converter':
    case 'header_converter':
    case 'transformation':
    case 'predicate':
      return { ...pluginInfo(description), kind, create: () => runsInChain(description) }
    case 'provider':
      return undefined
  }
}

/** These plugins are called for each record, which is why they run in a `RecordChain` only. */
function runsInChain({ class: name }: JavaPluginDescription): never {
  throw new Error(`${name} runs in a JVM, not in this thread`)
}
