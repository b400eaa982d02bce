import { messageOf, UserError } from '../../common/errors.ts'
import { type Coordinates, formatCoordinates, pomOf, unsafePart } from './coordinates.ts'
import { type Exclusion, type Pom, type PomDependency, parsePom } from './pom.ts'

/** A dependency after inheritance, interpolation and dependency management. */
export type EffectiveDependency = {
  readonly coordinates: Coordinates
  readonly scope: string
  readonly isOptional: boolean
  readonly exclusions: readonly Exclusion[]
}

/** The dependencies of a POM, with everything that it inherits and imports. */
export type EffectivePom = {
  /** The coordinates of the POM, or of the artifact to which it was relocated. */
  readonly coordinates: Coordinates
  readonly dependencies: readonly EffectiveDependency[]
  /** By `managementKey`. */
  readonly managed: ReadonlyMap<string, PomDependency>
}

/** Reads the bytes of a POM. Rejects with a `UserError` if the repository does not have it. */
export type ReadPom = (coordinates: Coordinates) => Promise<Uint8Array>

/** Limits of chains of parents, relocations and imports, which may be circular in a hostile repository. */
const CHAIN_MAX = 32
/** Limits of the interpolation of one value: properties can refer to each other. */
const VALUE_CHARACTERS_MAX = 10_000
const SUBSTITUTIONS_MAX = 1_000

/** Computes effective POMs as Maven does. Profiles count only when they are active by default. */
export class EffectivePoms {
  readonly #readPom: ReadPom
  /** Only computed ones: POMs whose imports form a circle would wait for each other. */
  readonly #known = new Map<string, EffectivePom>()
  readonly #raw = new Map<string, Promise<Pom>>()

  constructor(readPom: ReadPom) {
    this.#readPom = readPom
  }

  /** Rejects with a `UserError` that names the POM at fault. `open` are those that import it or are relocated to it. */
  async get(coordinates: Coordinates, open: readonly string[] = []): Promise<EffectivePom> {
    const pom = pomOf(coordinates)
    const key = formatCoordinates(pom)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (open.includes(key)) throw invalid(pom, 'it imports itself')
    if (open.length > CHAIN_MAX) throw invalid(pom, `imports are nested deeper than ${CHAIN_MAX}`)
    const computed = await this.#compute(pom, [...open, key])
    this.#known.set(key, computed)
    return computed
  }

  async #compute(coordinates: Coordinates, open: readonly string[]): Promise<EffectivePom> {
    const lineage = await this.#lineage(coordinates)
    const { relocation } = lineage[0]!
    if (relocation !== undefined) {
      const { group = coordinates.group, artifact = coordinates.artifact, version = coordinates.version } = relocation
      return this.get(checked({ ...coordinates, group, artifact, version }, coordinates), open)
    }
    const interpolate = interpolator(coordinates, lineage)
    // A child's entry replaces that of its parent.
    const declared = (select: (pom: Pom) => readonly PomDependency[]) =>
      new Map(
        lineage.toReversed().flatMap((pom) =>
          select(pom).map((dependency) => {
            const interpolated = interpolateDependency(dependency, interpolate)
            return [managementKey(interpolated), interpolated] as const
          }),
        ),
      )
    const managed = await this.#withImports(
      declared(({ managed }) => managed),
      coordinates,
      open,
    )
    const dependencies = [...declared(({ dependencies }) => dependencies).values()].map((dependency) =>
      toDependency(dependency, managed.get(managementKey(dependency)), coordinates),
    )
    return { coordinates, dependencies: dependencies.filter((one) => one !== undefined), managed }
  }

  /** The POM and its ancestors. */
  async #lineage(coordinates: Coordinates): Promise<readonly Pom[]> {
    const lineage: Pom[] = []
    for (let next: Coordinates | undefined = coordinates; next !== undefined; ) {
      const pom: Pom = await this.#read(next)
      lineage.push(pom)
      if (lineage.length > CHAIN_MAX) throw invalid(coordinates, `it has more than ${CHAIN_MAX} ancestors`)
      next = pom.parent && checked({ ...next, ...pom.parent }, next)
    }
    return lineage
  }

  #read(coordinates: Coordinates): Promise<Pom> {
    const key = formatCoordinates(coordinates)
    const read = this.#raw.get(key) ?? this.#parse(coordinates)
    this.#raw.set(key, read)
    return read
  }

  async #parse(coordinates: Coordinates): Promise<Pom> {
    const bytes = await this.#readPom(coordinates)
    try {
      return parsePom(bytes)
    } catch (error) {
      throw invalid(coordinates, messageOf(error))
    }
  }

  /** Declared entries win over imported ones, and earlier imports over later ones. */
  async #withImports(
    declared: ReadonlyMap<string, PomDependency>,
    importer: Coordinates,
    open: readonly string[],
  ): Promise<ReadonlyMap<string, PomDependency>> {
    const entries = [...declared.values()]
    const managed = new Map(entries.filter((entry) => !isImport(entry)).map((entry) => [managementKey(entry), entry]))
    for (const { group, artifact, version } of entries.filter(isImport)) {
      if (version === undefined) throw invalid(importer, `it imports ${group}:${artifact} without a version`)
      const bom = checked({ group, artifact, version, extension: 'pom', classifier: '' }, importer)
      const imported = await this.get(bom, open)
      for (const [key, entry] of imported.managed) if (!managed.has(key)) managed.set(key, entry)
    }
    return managed
  }
}

/** Dependencies with the same key are the same one, in different versions. */
export function managementKey(of: Pick<PomDependency, 'group' | 'artifact' | 'type' | 'classifier'>): string {
  return `${of.group}:${of.artifact}:${of.type ?? 'jar'}:${of.classifier ?? ''}`
}

function isImport({ scope, type }: PomDependency): boolean {
  return scope === 'import' && type === 'pom'
}

function toDependency(
  declared: PomDependency,
  managed: PomDependency | undefined,
  owner: Coordinates,
): EffectiveDependency | undefined {
  const { group, artifact, type = 'jar' } = declared
  const version = declared.version ?? managed?.version
  const scope = declared.scope ?? managed?.scope ?? 'compile'
  // Maven does not manage this flag.
  const isOptional = declared.optional === 'true'
  const exclusions = declared.exclusions.length > 0 ? declared.exclusions : (managed?.exclusions ?? [])
  // What is not installed may be incomplete: Maven only warns of it, too.
  const isUsed = ['compile', 'runtime'].includes(scope) && !isOptional
  if (version === undefined) {
    if (!isUsed) return undefined
    throw invalid(owner, `its dependency ${group}:${artifact} has no version`)
  }
  const { extension, classifier } = fileOfType(type)
  const coordinates = { group, artifact, version, extension, classifier: declared.classifier ?? classifier }
  if (!isUsed && unsafePart(coordinates) !== undefined) return undefined
  return { coordinates: checked(coordinates, owner), scope, isOptional, exclusions }
}

/** Types whose files are jars. */
const JAR_TYPES = ['jar', 'bundle', 'ejb', 'maven-plugin', 'eclipse-plugin', 'hk2-jar', 'java-source', 'javadoc']

function fileOfType(type: string): { readonly extension: string; readonly classifier: string } {
  if (type === 'test-jar') return { extension: 'jar', classifier: 'tests' }
  if (type === 'ejb-client') return { extension: 'jar', classifier: 'client' }
  return { extension: JAR_TYPES.includes(type) ? 'jar' : type, classifier: '' }
}

/** Version ranges are resolved later, and contain what a path must not. */
function checked(coordinates: Coordinates, owner: Coordinates): Coordinates {
  const isRange = /^[[(]/.test(coordinates.version)
  const part = unsafePart(isRange ? { ...coordinates, version: '0' } : coordinates)
  if (part === undefined) return coordinates
  throw invalid(owner, `it refers to ${formatCoordinates(coordinates)}, where '${part}' is not a Maven name`)
}

function invalid(coordinates: Coordinates, reason: string): UserError {
  return new UserError('invalid_pom', `the POM of ${formatCoordinates(pomOf(coordinates))} cannot be used: ${reason}`)
}

type Interpolate = (text: string) => string

/** Replaces `${…}` by properties, of which those of a child win, and by coordinates. Unknown ones stay. */
function interpolator(coordinates: Coordinates, lineage: readonly Pom[]): Interpolate {
  const values = new Map(lineage.toReversed().flatMap(({ properties }) => [...properties]))
  const { group, artifact, version } = coordinates
  const parent = lineage[0]?.parent
  const own: Readonly<Record<string, string | undefined>> = {
    groupId: group,
    artifactId: artifact,
    version,
    'parent.groupId': parent?.group,
    'parent.artifactId': parent?.artifact,
    'parent.version': parent?.version,
  }
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined) continue
    for (const prefix of ['project.', 'pom.']) values.set(`${prefix}${name}`, value)
    if (!values.has(name)) values.set(name, value)
  }
  return (text) => {
    let substitutions = 0
    const replace = (part: string, open: readonly string[]): string =>
      part.slice(0, VALUE_CHARACTERS_MAX).replace(/\$\{([^${}]+)\}/g, (written, name: string) => {
        const value = values.get(name)
        if (value === undefined || open.includes(name) || ++substitutions > SUBSTITUTIONS_MAX) return written
        return replace(value, [...open, name])
      })
    return replace(text, []).slice(0, VALUE_CHARACTERS_MAX)
  }
}

function interpolateDependency(dependency: PomDependency, interpolate: Interpolate): PomDependency {
  const { version, type, classifier, scope, optional } = dependency
  return {
    group: interpolate(dependency.group),
    artifact: interpolate(dependency.artifact),
    version: version && interpolate(version),
    type: type && interpolate(type),
    classifier: classifier && interpolate(classifier),
    scope: scope && interpolate(scope),
    optional: optional && interpolate(optional),
    exclusions: dependency.exclusions.map(({ group, artifact }) => ({
      group: interpolate(group),
      artifact: interpolate(artifact),
    })),
  }
}
