import type { World } from '../world.ts'

/** The worlds by name. Each is loaded when it is asked for, because the programs in it take a second to load. */
export const WORLDS: Readonly<Record<string, () => Promise<World>>> = {
  operator: async () => (await import('./operator.ts')).operatorWorld,
  registry: async () => (await import('./registry.ts')).registryWorld,
  worker: async () => (await import('./worker.ts')).workerWorld,
}
