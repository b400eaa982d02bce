import { UserError } from '../../common/errors.ts'
import { compareMavenVersions } from '../../java-compat/maven-version.ts'
import { parseVersionRequirement } from '../../java-compat/maven-version-range.ts'
import { type Coordinates, formatCoordinates } from './coordinates.ts'
import { type EffectiveDependency, type EffectivePom, EffectivePoms, managementKey } from './effective-pom.ts'
import { type Exclusion, parseMetadataVersions } from './pom.ts'

/** What the resolution of dependencies reads from a repository. Rejects with a `UserError`. */
export type PomSource = {
  readPom(coordinates: Coordinates): Promise<Uint8Array>
  /** The `maven-metadata.xml` of an artifact. */
  readMetadata(coordinates: Coordinates): Promise<Uint8Array>
}

export type Resolution = {
  /** The artifact itself first, then its dependencies in the order in which they were found. */
  readonly files: readonly Coordinates[]
  /** Dependencies that the Java host provides, `GROUP:ARTIFACT`. */
  readonly provided: readonly string[]
}

/** What the class path of the Java host has: a plugin's own copy would never be loaded, or would replace Weir's plugins. */
const PROVIDED_BY_HOST: ReadonlySet<string> = new Set([
  ...['connect-api', 'connect-json', 'connect-transforms', 'kafka-clients'].map(
    (artifact) => `org.apache.kafka:${artifact}`,
  ),
  'org.slf4j:slf4j-api',
])

const ARTIFACTS_MAX = 1_000

type Node = { readonly dependency: EffectiveDependency; readonly exclusions: readonly Exclusion[] }

/**
 * Resolves an artifact with its runtime dependencies as Maven does: the nearest declaration of a dependency wins, then the
 * first one. Versions that the artifact manages apply to all of them, as in its own build. Optional, test and provided
 * dependencies are left out, and those that the Java host provides.
 */
export async function resolveDependencies(root: Coordinates, source: PomSource): Promise<Resolution> {
  const poms = new EffectivePoms((coordinates) => source.readPom(coordinates))
  const own = await poms.get(root)
  const files = [{ ...own.coordinates, extension: root.extension, classifier: root.classifier }]
  const mediation = new Mediation(root)
  let level: readonly Node[] = own.dependencies.map((dependency) => ({ dependency, exclusions: [] }))
  while (level.length > 0) {
    const chosen = level.filter((node) => mediation.choose(node))
    const versions = await Promise.all(chosen.map(({ dependency }) => withVersion(dependency.coordinates, source)))
    const found = await Promise.all(versions.map((coordinates) => poms.get(coordinates)))
    level = found.flatMap((pom, index) => {
      const { extension, classifier } = versions[index]!
      const file = { ...pom.coordinates, extension, classifier }
      if (mediation.isRelocatedToOther(versions[index]!, file)) return []
      if (extension !== 'pom') files.push(file)
      const { dependency, exclusions } = chosen[index]!
      const inherited = [...exclusions, ...dependency.exclusions]
      return pom.dependencies.map((one) => ({ dependency: managedBy(own, one), exclusions: inherited }))
    })
  }
  return { files, provided: mediation.provided }
}

/** Selects one declaration of each dependency. Declarations must be added in the order of their depth. */
class Mediation {
  readonly #root: Coordinates
  readonly #decided: Set<string>
  readonly #provided = new Set<string>()

  constructor(root: Coordinates) {
    this.#root = root
    this.#decided = new Set([keyOf(root)])
  }

  get provided(): readonly string[] {
    return [...this.#provided].sort()
  }

  /** Whether an artifact has moved to one that is decided already. */
  isRelocatedToOther(from: Coordinates, to: Coordinates): boolean {
    if (keyOf(from) === keyOf(to)) return false
    const isDecided = this.#decided.has(keyOf(to))
    this.#decided.add(keyOf(to))
    return isDecided
  }

  choose({ dependency, exclusions }: Node): boolean {
    const { coordinates } = dependency
    const key = keyOf(coordinates)
    if (!isIncluded(dependency) || this.#decided.has(key) || isExcluded(coordinates, exclusions)) return false
    this.#decided.add(key)
    if (this.#decided.size > ARTIFACTS_MAX) {
      throw new UserError(
        'install_limit',
        `${formatCoordinates(this.#root)} has more than ${ARTIFACTS_MAX} dependencies`,
      )
    }
    const name = `${coordinates.group}:${coordinates.artifact}`
    if (PROVIDED_BY_HOST.has(name)) this.#provided.add(name)
    return !this.#provided.has(name)
  }
}

function isIncluded({ scope, isOptional }: EffectiveDependency): boolean {
  return !isOptional && (scope === 'compile' || scope === 'runtime')
}

function isExcluded({ group, artifact }: Coordinates, exclusions: readonly Exclusion[]): boolean {
  return exclusions.some(
    (one) => (one.group === '*' || one.group === group) && (one.artifact === '*' || one.artifact === artifact),
  )
}

/** The key of a dependency without its version. */
function keyOf({ group, artifact, extension, classifier }: Coordinates): string {
  return managementKey({ group, artifact, type: extension, classifier })
}

/**
 * Applies the versions and exclusions from the dependency management of the installed artifact, but not the scopes:
 * an artifact may declare a library as `provided` that is on the class path of Kafka Connect, but not of a Java host.
 */
function managedBy(root: EffectivePom, dependency: EffectiveDependency): EffectiveDependency {
  const managed = root.managed.get(keyOf(dependency.coordinates))
  if (managed === undefined) return dependency
  return {
    ...dependency,
    coordinates: { ...dependency.coordinates, version: managed.version ?? dependency.coordinates.version },
    exclusions: [...dependency.exclusions, ...managed.exclusions],
  }
}

/** Replaces a range by the newest release within it. */
async function withVersion(coordinates: Coordinates, source: PomSource): Promise<Coordinates> {
  const { version } = coordinates
  if (!/^[[(]/.test(version)) return coordinates
  const range = parseVersionRequirement(version)
  const released = parseMetadataVersions(await source.readMetadata(coordinates))
  const within = released.filter((one) => range.contains(one) && !/-SNAPSHOT$/i.test(one))
  const newest = within.toSorted(compareMavenVersions).at(-1)
  if (newest !== undefined) return { ...coordinates, version: newest }
  throw new UserError('artifact_not_found', `the repository has no version of ${formatCoordinates(coordinates)}`)
}
