import type { Plugin } from '../sdk/index.ts'
import type { JavaModule } from './java-module.ts'
import { javaSink } from './java-sink.ts'
import { javaSource } from './java-source.ts'
import type { JavaPluginDescription } from './plugin-location.ts'

/** The plugins of a location as plugins of the SDK, for a thread that runs tasks. */
export function javaPlugins(module: JavaModule): readonly Plugin[] {
  return module.plugins.flatMap((description) => toPlugin(module, description) ?? [])
}

function toPlugin(module: JavaModule, description: JavaPluginDescription): Plugin | undefined {
  switch (description.kind) {
    case 'source':
      return javaSource(module, description)
    case 'sink':
      return javaSink(module, description)
    default:
      return undefined
  }
}
