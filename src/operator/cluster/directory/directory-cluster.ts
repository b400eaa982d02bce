import { createHash } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { deprecationWarning } from '../../../common/resource-api.ts'
import { FINALIZER } from '../../controller/finalizer.ts'
import { immutableFieldError } from '../../resources/immutable-fields.ts'
import type { IndexValue } from '../../resources/index-values.ts'
import type { DeclaredResource } from '../../resources/parse-resource.ts'
import { resourcesReferringTo } from '../../resources/referenced-objects.ts'
import {
  INITIAL_STATUS,
  type Resource,
  type ResourceKey,
  type ResourceKind,
  type ResourceStatus,
  resourceKey,
  resourceKeyOf,
} from '../../resources/resource.ts'
import { ChangeListeners } from '../change-listeners.ts'
import type { Cluster, ConfigData, ManifestError, ResourceChange, ResourceEvent } from '../cluster.ts'
import { ResourceStore } from '../resource-store.ts'
import { type ConfigMap, manifestOf } from './manifest.ts'
import { ManifestWatcher, type ManifestWatcherOptions } from './manifest-watcher.ts'
import { EMPTY_FOLDER, type ManifestFile, type ManifestFolder, readManifestFolder } from './read-manifest-folder.ts'

/**
 * A manifest that is missing for this long counts as deleted. A shorter absence is an editor that replaces the file, or
 * a file that is being moved.
 */
const DELETION_DELAY_MS = 1_500

/** Where a resource is declared. */
type Origin = { readonly file: string; readonly line: number }
type Claim = Origin & { readonly declared: DeclaredResource }

/**
 * Resources of a folder of manifests. Removing a manifest deletes its resource; a resource whose manifest becomes
 * unreadable stays as it was. Status is kept in memory and observed again after a restart.
 */
export class DirectoryCluster implements Cluster {
  readonly description: string
  readonly #options: ManifestWatcherOptions
  readonly #resources = new ResourceStore()
  readonly #origins = new Map<ResourceKey, Origin>()
  readonly #missingSinceMs = new Map<ResourceKey, number>()
  readonly #listeners: ChangeListeners
  readonly #watcher: ManifestWatcher
  #configMaps = new Map<string, ConfigMap>()
  #folder: ManifestFolder = EMPTY_FOLDER
  /** The last valid content of each file, used while the file is invalid. */
  readonly #lastValid = new Map<string, readonly Claim[]>()
  #manifestErrors: readonly ManifestError[] = []

  constructor(options: ManifestWatcherOptions) {
    this.#options = options
    this.#listeners = new ChangeListeners(options.logger)
    this.#watcher = new ManifestWatcher(options, () => this.#read())
    this.description = options.path
  }

  async start(): Promise<void> {
    await this.#watcher.start()
  }

  async stop(): Promise<void> {
    await this.#watcher.stop()
  }

  onChange(listener: (change: ResourceChange) => void): () => void {
    return this.#listeners.add(listener)
  }

  get<K extends ResourceKind>(key: ResourceKey<K>): Resource<K> | undefined {
    return this.#resources.get(key)
  }

  /** An invalid manifest leaves the previous version in force; see `manifestErrors`. */
  unreadable(): undefined {
    return undefined
  }

  list<K extends ResourceKind>(kind: K): readonly Resource<K>[] {
    return this.#resources.list(kind)
  }

  count(kind: ResourceKind): number {
    return this.#resources.count(kind)
  }

  find<K extends ResourceKind>(term: IndexValue<K>): readonly Resource<K>[] {
    return this.#resources.find(term)
  }

  async writeStatus<K extends ResourceKind>(key: ResourceKey<K>, status: ResourceStatus[K]): Promise<boolean> {
    const resource = this.#resources.get(key)
    if (resource === undefined) return true
    this.#resources.put({ ...resource, status } as Resource)
    this.#notify({ key, type: 'status' })
    return true
  }

  async setFinalizer(key: ResourceKey, present: boolean): Promise<void> {
    const resource = this.#resources.get(key)
    if (resource === undefined) return
    const finalizers = present ? [FINALIZER[resource.kind]] : []
    if (!present && resource.metadata.deletionTimestamp !== undefined) this.#remove(key)
    else this.#replace({ ...resource, metadata: { ...resource.metadata, finalizers } })
  }

  /** A write always has a known outcome. */
  async confirm(): Promise<void> {}

  recordEvent(resource: Resource, event: ResourceEvent): void {
    const log = event.type === 'Warning' ? 'warn' : 'info'
    this.#options.logger[log]({ resource: resourceKeyOf(resource), reason: event.reason, note: event.note }, 'event')
  }

  async configMap(namespace: string, name: string): Promise<ConfigData | undefined> {
    const found = this.#configMaps.get(`${namespace}/${name}`)
    return found && new Map(Object.entries(found.data))
  }

  /** A folder of manifests has no Secrets. */
  async secret(): Promise<undefined> {
    return undefined
  }

  async watchNamespaces(): Promise<void> {}

  /** In a folder, a namespace is only a name. */
  namespace(): undefined {
    return undefined
  }

  secretVersion(): undefined {
    return undefined
  }

  /** Written to a manifest of its own; a ConfigMap that another manifest declares is not changed. */
  async writeConfigMap(namespace: string, name: string, data: Readonly<Record<string, string>>): Promise<boolean> {
    const file = `${namespace}.${name}.exported.yaml`
    const isOthers = [...this.#folder.files.values()].some(
      ({ path, configMaps }) =>
        path !== file && configMaps.some((map) => map.namespace === namespace && map.name === name),
    )
    if (isOthers) return false
    const path = join(this.#options.path, file)
    // The earlier one is kept until the new one is complete: a full disk may not lose exported offsets.
    await writeFile(`${path}.partial`, manifestOf({ namespace, name, data }))
    await rename(`${path}.partial`, path)
    return true
  }

  manifestErrors(): readonly ManifestError[] {
    return this.#manifestErrors.map((fault) => ({ ...fault, file: this.#displayPath(fault.file) }))
  }

  /** The path relative to the working directory, as editors and shells expect it. */
  #displayPath(file: string): string {
    return join(this.#options.path, file)
  }

  async #read(): Promise<void> {
    const before = this.#folder.files
    this.#folder = await readManifestFolder(this.#options.path, this.#folder)
    for (const file of this.#folder.files.values()) if (file !== before.get(file.path)) this.#warnOfVersions(file)
    this.#updateResources()
  }

  /** Once for each content of a file. */
  #warnOfVersions({ path, resources }: ManifestFile): void {
    const versions = new Set(resources.flatMap(({ deprecatedVersion }) => deprecatedVersion ?? []))
    for (const version of versions)
      this.#options.logger.warn({ file: this.#displayPath(path) }, deprecationWarning(version))
  }

  /** Updates the resources after the folder was read. */
  #updateResources(): void {
    const manifestErrors: ManifestError[] = [...this.#folder.manifestErrors]
    const claims = this.#claims(manifestErrors)
    this.#updateConfigMaps()
    for (const [key, claim] of claims) this.#declare(key, claim, manifestErrors)
    this.#deleteMissing(claims)
    this.#manifestErrors = manifestErrors
  }

  /** Which document declares which resource. Of several, the one in force wins, else the first by path. */
  #claims(manifestErrors: ManifestError[]): ReadonlyMap<ResourceKey, Claim> {
    const claims = new Map<ResourceKey, Claim>()
    for (const claim of this.#allClaims(manifestErrors)) {
      const key = keyOfDeclared(claim.declared)
      const other = claims.get(key)
      if (other === undefined) {
        claims.set(key, claim)
        continue
      }
      const origin = this.#origins.get(key)
      const keeps = origin?.file === claim.file && origin.file !== other.file
      const [winner, loser] = keeps ? [claim, other] : [other, claim]
      claims.set(key, winner)
      const message = `${nameOf(key)} is declared in ${this.#displayPath(winner.file)}:${winner.line} already; this one is ignored: rename one of them`
      manifestErrors.push({ file: loser.file, line: loser.line, message })
    }
    for (const path of this.#lastValid.keys()) if (!this.#folder.files.has(path)) this.#lastValid.delete(path)
    return claims
  }

  #allClaims(manifestErrors: ManifestError[]): readonly Claim[] {
    return [...this.#folder.files.values()].flatMap((file) => {
      const claims = file.resources.map(({ declared, line }) => ({ declared, line, file: file.path }))
      if (file.manifestErrors.length === 0) {
        this.#lastValid.set(file.path, claims)
        return claims
      }
      manifestErrors.push(...file.manifestErrors)
      // While a document of the file is invalid, a missing resource may be declared in it, so it is kept.
      const readable = new Set(claims.map(({ declared }) => keyOfDeclared(declared)))
      const kept = (this.#lastValid.get(file.path) ?? []).filter(
        ({ declared }) => !readable.has(keyOfDeclared(declared)),
      )
      this.#lastValid.set(file.path, [...claims, ...kept])
      return [...claims, ...kept]
    })
  }

  #declare(key: ResourceKey, { declared, file, line }: Claim, manifestErrors: ManifestError[]): void {
    this.#missingSinceMs.delete(key)
    this.#origins.set(key, { file, line })
    const known = this.#resources.get(key)
    if (known === undefined) {
      this.#replace(this.#create(declared))
      return
    }
    const changed = immutableFieldError(known.kind, known.spec, declared.spec)
    if (changed !== undefined) {
      manifestErrors.push({ key, file, line, message: changed })
      return
    }
    const { labels, annotations } = declared
    const sameSpec = isDeepStrictEqual(known.spec, declared.spec)
    const same = isDeepStrictEqual([labels, annotations], [known.metadata.labels, known.metadata.annotations])
    const { deletionTimestamp, ...metadata } = known.metadata
    if (sameSpec && same && deletionTimestamp === undefined) return
    const generation = metadata.generation + Number(!sameSpec)
    this.#replace({
      ...known,
      spec: declared.spec,
      metadata: { ...metadata, labels, annotations, generation },
    } as Resource)
  }

  #create({ kind, namespace, name, labels, annotations, spec }: DeclaredResource): Resource {
    const creationTimestamp = new Date(this.#options.clock.nowMs()).toISOString()
    const metadata = {
      namespace,
      name,
      uid: uidOf(resourceKey(kind, namespace, name)),
      generation: 1,
      creationTimestamp,
      finalizers: [],
      labels,
      annotations,
    }
    return { kind, metadata, spec, status: INITIAL_STATUS } as Resource
  }

  #deleteMissing(claims: ReadonlyMap<ResourceKey, Claim>): void {
    const nowMs = this.#options.clock.monotonicMs()
    for (const resource of this.#resources.all()) {
      const key = resourceKeyOf(resource)
      if (claims.has(key) || resource.metadata.deletionTimestamp !== undefined) continue
      const sinceMs = this.#missingSinceMs.get(key) ?? nowMs
      this.#missingSinceMs.set(key, sinceMs)
      if (nowMs - sinceMs >= DELETION_DELAY_MS) this.#delete(key, resource)
    }
  }

  #delete(key: ResourceKey, resource: Resource): void {
    this.#missingSinceMs.delete(key)
    if (resource.metadata.finalizers.length === 0) {
      this.#remove(key)
      return
    }
    const deletionTimestamp = new Date(this.#options.clock.nowMs()).toISOString()
    this.#replace({ ...resource, metadata: { ...resource.metadata, deletionTimestamp } })
  }

  #updateConfigMaps(): void {
    const before = this.#configMaps
    const maps = [...this.#folder.files.values()].flatMap(({ configMaps }) => configMaps)
    this.#configMaps = new Map(maps.map((map) => [`${map.namespace}/${map.name}`, map]))
    const paths = new Set([...before.keys(), ...this.#configMaps.keys()])
    for (const path of paths) {
      const [old, now] = [before.get(path), this.#configMaps.get(path)]
      const changed = old ?? now
      if (changed === undefined || isDeepStrictEqual(old, now)) continue
      for (const resource of resourcesReferringTo('configmaps', changed, this.#resources.all()))
        this.#notify({ key: resourceKeyOf(resource), type: 'desired' })
    }
  }

  #replace(resource: Resource): void {
    this.#resources.put(resource)
    this.#notify({ key: resourceKeyOf(resource), type: 'desired' })
  }

  #remove(key: ResourceKey): void {
    this.#resources.drop(key)
    this.#origins.delete(key)
    this.#notify({ key, type: 'deleted' })
  }

  #notify(change: ResourceChange): void {
    this.#listeners.notify(change)
  }
}

function keyOfDeclared({ kind, namespace, name }: DeclaredResource): ResourceKey {
  return resourceKey(kind, namespace, name)
}

/** `Connector orders`, with its namespace unless that is `default`. */
function nameOf(key: ResourceKey): string {
  const [kind, namespace, name] = key.split('/')
  return `${kind} ${namespace === 'default' ? '' : `${namespace}/`}${name}`
}

/** The same after every restart, because the uid decides between claimants. */
function uidOf(key: ResourceKey): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32)
}
