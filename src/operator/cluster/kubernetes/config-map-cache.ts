import type { ConfigData } from '../cluster.ts'

/** Reads a ConfigMap; undefined when it does not exist. */
export type ReadConfigMap = (namespace: string, name: string) => Promise<ConfigData | undefined>

/** Limit of all kept data, in characters. One ConfigMap has at most a million. */
const CHARACTERS_MAX = 16_777_216
/** What an entry without data counts. */
const ENTRY_CHARACTERS = 256

type Entry = { readonly data: Promise<ConfigData | undefined>; characters: number }

/**
 * Keeps what was read of ConfigMaps until they change, so that a change is read once however many resources use the
 * ConfigMap. The one that was not used for longest is dropped first.
 */
export class ConfigMapCache {
  readonly #read: ReadConfigMap
  readonly #charactersMax: number
  /** In order of their last use. */
  readonly #entries = new Map<string, Entry>()
  #characters = 0

  constructor(read: ReadConfigMap, charactersMax = CHARACTERS_MAX) {
    this.#read = read
    this.#charactersMax = charactersMax
  }

  get(namespace: string, name: string): Promise<ConfigData | undefined> {
    const key = keyOf(namespace, name)
    const known = this.#entries.get(key)
    if (known === undefined) return this.#fetch(key, namespace, name)
    this.#entries.delete(key)
    this.#entries.set(key, known)
    return known.data
  }

  /** Called when the ConfigMap has changed, before anybody is told. */
  forget(namespace: string, name: string): void {
    this.#drop(keyOf(namespace, name))
  }

  #fetch(key: string, namespace: string, name: string): Promise<ConfigData | undefined> {
    const entry: Entry = { data: this.#read(namespace, name), characters: 0 }
    this.#entries.set(key, entry)
    entry.data.then(
      (data) => this.#keep(key, entry, data),
      () => this.#entries.get(key) === entry && this.#drop(key),
    )
    return entry.data
  }

  /** Counts an entry when its size is known, unless the ConfigMap has changed since. */
  #keep(key: string, entry: Entry, data: ConfigData | undefined): void {
    if (this.#entries.get(key) !== entry) return
    entry.characters = ENTRY_CHARACTERS
    for (const [name, value] of data ?? []) entry.characters += name.length + value.length
    this.#characters += entry.characters
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= this.#charactersMax) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#characters -= this.#entries.get(key)?.characters ?? 0
    this.#entries.delete(key)
  }
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`
}
