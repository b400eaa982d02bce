import { setImmediate } from 'node:timers/promises'
import { messageOf } from '../../common/errors.ts'
import type { JavaPluginKind, JavaPluginLocation } from '../plugin-location.ts'
import { type ClassContainer, openContainers } from './class-containers.ts'
import { type ClassFile, parseClassFile } from './class-file.ts'
import type { LocationFault } from './location-files.ts'
import { isClassOfKafka, isPartOfWorker, kindsByParent, MANIFESTS, parseManifest } from './plugin-types.ts'

/** A class that is a plugin of one kind. A class of several kinds is found once for each. */
export type JavaPluginClass = {
  readonly kind: JavaPluginKind
  readonly class: string
  /** Whether a service loader manifest names it. */
  readonly hasManifest: boolean
  /** The Java version that the class was compiled for; undefined if the location does not have the class itself. */
  readonly javaVersion: number | undefined
}

export type DiscoveredClasses = {
  /** Sorted by kind and name. */
  readonly classes: readonly JavaPluginClass[]
  readonly faults: readonly LocationFault[]
}

const MANIFEST_BYTES_MAX = 1_048_576
const CLASS_BYTES_MAX = 16 * 1_048_576
/** Time, in ms, after which a scan lets other work of the thread run. */
const SLICE_MS = 10

/**
 * Finds the plugins of a location without loading them: those that manifests name and, with `scan`, all classes that
 * extend a plugin type. Rejects with a sentence if the location as a whole cannot be read.
 */
export async function discoverClasses(location: JavaPluginLocation, scan: boolean): Promise<DiscoveredClasses> {
  const faults: LocationFault[] = []
  const containers = await openContainers(location, faults)
  try {
    return await new Discovery(location, containers, faults).run(scan)
  } finally {
    for (const container of containers) container.close()
  }
}

class Discovery {
  readonly #location: JavaPluginLocation
  readonly #containers: readonly ClassContainer[]
  readonly #faults: LocationFault[]
  /** The headers of classes that were read; undefined for those that cannot be. */
  readonly #classes = new Map<string, ClassFile | undefined>()
  #sliceEndsMs = performance.now() + SLICE_MS

  constructor(location: JavaPluginLocation, containers: readonly ClassContainer[], faults: LocationFault[]) {
    this.#location = location
    this.#containers = containers
    this.#faults = faults
  }

  async run(scan: boolean): Promise<DiscoveredClasses> {
    const named = await this.#readManifests()
    if (scan) for (const container of this.#containers) await this.#scan(container)
    const scanned = scan ? pluginsAmong(this.#classes) : new Map<JavaPluginKind, ReadonlySet<string>>()
    const classes: JavaPluginClass[] = []
    for (const { kind } of MANIFESTS) {
      const manifest = named.get(kind) ?? new Set()
      for (const name of [...new Set([...manifest, ...(scanned.get(kind) ?? [])])].sort()) {
        const javaVersion = (await this.#classFile(name))?.javaVersion
        const isMissing = javaVersion === undefined && !isClassOfKafka(name)
        if (!isMissing && !isPartOfWorker(name))
          classes.push({ kind, class: name, hasManifest: manifest.has(name), javaVersion })
      }
    }
    for (const name of new Set(classes.map((one) => one.class))) this.#reportCopies(name)
    return { classes, faults: this.#faults }
  }

  async #readManifests(): Promise<ReadonlyMap<JavaPluginKind, ReadonlySet<string>>> {
    const named = new Map<JavaPluginKind, Set<string>>()
    for (const container of this.#containers) {
      for (const { path, kind } of MANIFESTS) {
        if (!container.has(path)) continue
        const names = await this.#namesIn(container, path)
        named.set(kind, new Set([...(named.get(kind) ?? []), ...names]))
      }
    }
    return named
  }

  async #namesIn(container: ClassContainer, path: string): Promise<readonly string[]> {
    try {
      const names = parseManifest((await container.read(path, MANIFEST_BYTES_MAX)).toString('utf8'))
      for (const name of names.filter((missing) => this.#containerOf(missing) === undefined)) {
        if (isClassOfKafka(name)) continue
        const reason = `${path} names ${name}, but no such class is in ${this.#location.path}`
        this.#faults.push({ file: container.file, reason, isWarning: true })
      }
      return names
    } catch (error) {
      this.#faults.push({ file: container.file, reason: messageOf(error) })
      return []
    }
  }

  async #scan(container: ClassContainer): Promise<void> {
    for (const entry of container.names) {
      if (!isScanned(entry)) continue
      const name = entry.slice(0, -'.class'.length).replaceAll('/', '.')
      // The class loader takes the first copy of a class.
      if (this.#classes.has(name)) continue
      if (!(await this.#read(container, name))) return
      if (performance.now() < this.#sliceEndsMs) continue
      await setImmediate()
      this.#sliceEndsMs = performance.now() + SLICE_MS
    }
  }

  async #classFile(name: string): Promise<ClassFile | undefined> {
    const container = this.#containerOf(name)
    if (container !== undefined && !this.#classes.has(name)) await this.#read(container, name)
    return this.#classes.get(name)
  }

  /** Returns false if the container is damaged, so that one fault is reported instead of thousands. */
  async #read(container: ClassContainer, name: string): Promise<boolean> {
    try {
      const file = parseClassFile(await container.read(entryOf(name), CLASS_BYTES_MAX))
      this.#classes.set(name, file.name === name ? file : undefined)
      return true
    } catch (error) {
      const isClass = error instanceof RangeError
      const reason = isClass ? `its class ${name} is damaged: ${error.message}` : messageOf(error)
      this.#classes.set(name, undefined)
      this.#faults.push({ file: container.file, reason })
      return false
    }
  }

  #containerOf(name: string): ClassContainer | undefined {
    return this.#containers.find((container) => container.has(entryOf(name)))
  }

  #reportCopies(name: string): void {
    const [used, ...others] = this.#containers.filter((container) => container.has(entryOf(name)))
    for (const { file } of others) {
      this.#faults.push({ file, reason: `${name} is also in ${used?.file}, and that copy is used`, isWarning: true })
    }
  }
}

function entryOf(className: string): string {
  return `${className.replaceAll('.', '/')}.class`
}

/** `META-INF/versions` has copies of classes for newer versions of Java. */
function isScanned(entry: string): boolean {
  return (
    entry.endsWith('.class') && !entry.startsWith('META-INF/') && !/(?:^|\/)(?:module|package)-info\.class$/.test(entry)
  )
}

/** Follows from the types of the Connect API to everything that extends them. Takes linear time. */
function pluginsAmong(
  classes: ReadonlyMap<string, ClassFile | undefined>,
): ReadonlyMap<JavaPluginKind, ReadonlySet<string>> {
  const children = new Map<string, ClassFile[]>()
  const open = new Map<JavaPluginKind, ClassFile[]>()
  for (const file of classes.values()) {
    for (const parent of file?.parents ?? []) {
      append(children, parent, file!)
      for (const kind of kindsByParent(parent)) append(open, kind, file!)
    }
  }
  return new Map(
    [...open].map(([kind, roots]) => {
      const reached = new Set(roots)
      for (const file of reached) for (const child of children.get(file.name) ?? []) reached.add(child)
      return [kind, new Set([...reached].filter(({ isCreatable }) => isCreatable).map(({ name }) => name))] as const
    }),
  )
}

function append<Key, Item>(map: Map<Key, Item[]>, key: Key, item: Item): void {
  const items = map.get(key)
  if (items === undefined) map.set(key, [item])
  else items.push(item)
}
