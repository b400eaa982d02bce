import type { JavaModule } from '../../java/java-module.ts'

/** The plugins of a worker in addition to the shipped ones, for threads that run tasks. */
export type PluginModules = {
  /** URLs of modules. */
  readonly urls: readonly string[]
  readonly java: readonly JavaModule[]
}

export const NO_MODULES: PluginModules = { urls: [], java: [] }
