import { z } from 'zod'
import { UserError } from '../../common/errors.ts'
import type { JavaPluginLocation } from '../plugin-location.ts'
import { type DiscoveredClasses, discoverClasses } from './discover-classes.ts'
import type { DiscoveryCache } from './discovery-cache.ts'
import { type LocationFault, unreadable } from './location-files.ts'
import { hashLocation } from './location-hash.ts'
import { findJavaLocations } from './plugin-locations.ts'

/** The values of `plugin.discovery`, as in Kafka Connect. */
export const DISCOVERY_MODES = ['only_scan', 'hybrid_warn', 'hybrid_fail', 'service_load'] as const
export type DiscoveryMode = (typeof DISCOVERY_MODES)[number]

/** The plugins of one location. */
export type DiscoveredLocation = DiscoveredClasses & {
  readonly location: JavaPluginLocation
  /** Hash of the paths and contents of its files: the key of cached results. */
  readonly hash: string
}

export type JavaDiscovery = {
  /** In the order of `plugin.path`; only those that have a plugin. */
  readonly locations: readonly DiscoveredLocation[]
  /** All faults, including those of each location. */
  readonly faults: readonly LocationFault[]
}

/** The location that is read next, and the number of those before it. */
export type DiscoveryProgress = { readonly location: string; readonly done: number; readonly total: number }

/** Part of the names of cached files, to be increased when their content or the rules of discovery change. */
const CACHE_VERSION = 3

const cached = z.object({
  classes: z.array(
    z.object({
      kind: z.enum(['source', 'sink', 'converter', 'header_converter', 'transformation', 'predicate', 'provider']),
      class: z.string(),
      hasManifest: z.boolean(),
      javaVersion: z.number().optional(),
    }),
  ),
  faults: z.array(z.object({ file: z.string(), reason: z.string(), isWarning: z.literal(true).optional() })),
})

/** Finds the Java plugins of `plugin.path` without starting Java. A location that cannot be read becomes a fault. */
export async function discoverJavaPlugins(
  pluginPath: readonly string[],
  mode: DiscoveryMode,
  cache: DiscoveryCache,
  onProgress: (progress: DiscoveryProgress) => void = () => undefined,
): Promise<JavaDiscovery> {
  const found = findJavaLocations(pluginPath)
  const faults = [...found.faults]
  const locations: DiscoveredLocation[] = []
  // One after the other: each reads files and computes, both on this thread.
  for (const [done, location] of found.locations.entries()) {
    onProgress({ location: location.path, done, total: found.locations.length })
    try {
      const hash = await hashLocation(location)
      const discovered = await discoverLocation(location, hash, mode, cache)
      faults.push(...discovered.faults)
      if (discovered.classes.length > 0) locations.push({ location, hash, ...discovered })
    } catch (error) {
      faults.push({ file: location.path, reason: unreadable(error) })
    }
  }
  return { locations, faults }
}

async function discoverLocation(
  location: JavaPluginLocation,
  hash: string,
  mode: DiscoveryMode,
  cache: DiscoveryCache,
): Promise<DiscoveredClasses> {
  const scans = mode !== 'service_load'
  const name = `classes-${CACHE_VERSION}-${scans ? 'scan' : 'manifests'}-${hash}.json`
  const known = cached.safeParse(await cache.read(name))
  if (known.success) {
    const classes = known.data.classes.map((one) => ({ ...one, javaVersion: one.javaVersion }))
    return { classes, faults: known.data.faults }
  }
  const discovered = await discoverClasses(location, scans)
  await cache.write(name, discovered)
  return discovered
}

/**
 * The warning that Kafka Connect logs about the manifests; undefined when there is nothing to say. Throws a `UserError`
 * with `hybrid_fail` if a plugin has no manifest.
 */
export function manifestWarning(mode: DiscoveryMode, { locations }: JavaDiscovery): string | undefined {
  if (mode === 'service_load' || mode === 'only_scan' || locations.length === 0) return undefined
  const missing = locations.flatMap(({ location, classes }) =>
    classes.filter(({ hasManifest }) => !hasManifest).map((one) => `${one.class} (${one.kind}) in ${location.path}`),
  )
  if (missing.length === 0) {
    return 'all Java plugins have service loader manifests: plugin.discovery=service_load starts faster'
  }
  const sentence = `plugins without a service loader manifest are not found with plugin.discovery=service_load: ${missing.join(', ')}`
  if (mode === 'hybrid_warn') return `${sentence}. plugin.discovery=only_scan silences this warning`
  throw new UserError('invalid_settings', `plugin.discovery=hybrid_fail: ${sentence}. Use hybrid_warn to start anyway`)
}
