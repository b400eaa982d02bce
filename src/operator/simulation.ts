// What the command line uses of the simulation, without the parts of the operator that run as a server.

export { isManifestPath, MANIFEST_BYTES_MAX } from './cluster/directory/read-manifest-folder.ts'
export { type OperatorConfiguration, readConfiguration } from './operator-configuration.ts'
export type { ResourceKey } from './resources/resource.ts'
export { RUNTIME_DEFAULTS, type RuntimesConfig } from './runtimes.ts'
export {
  type FilePosition,
  type ManifestDirectory,
  type ManifestProblem,
  manifestDirectoryOf,
  readManifestDirectory,
} from './simulation/manifest-directory.ts'
export type { RegistryReader } from './simulation/registry-overlay.ts'
export { RegistrySnapshot } from './simulation/registry-snapshot.ts'
export type { RuntimeChange } from './simulation/runtime-change.ts'
export { type SimulatedResource, Simulation, type SimulationOptions } from './simulation/simulation.ts'
export type { WorkerReader } from './simulation/worker-overlay.ts'
