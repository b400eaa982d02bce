import { messageOf, UserError } from '../../common/errors.ts'
import type { SecretMasker } from '../../common/secrets/secret-masker.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import { commaSeparated, settingsWithPrefix } from '../../config/settings.ts'
import type { ConfigProviderInstance, RawConfig } from '../../sdk/index.ts'
import type { PluginHost } from '../plugin-host.ts'
import { placeholdersIn, replacePlaceholders } from './placeholder.ts'

/** A configuration with resolved placeholders, and the value of each placeholder by its text. */
export type ResolvedConfig = { readonly config: RawConfig; readonly placeholderValues: ReadonlyMap<string, string> }

const NO_PLACEHOLDER = { name: '', path: '', key: '' }

type Values = Awaited<ReturnType<ConfigProviderInstance['read']>>
/** Reads values. Without a signal, the time limit of a request applies. */
type Provider = (path: string, keys: readonly string[], signal?: AbortSignal) => Promise<Values> | Values

/** The user of resolved values: a connector, or one of its tasks, which keeps the values it was started with. */
export type PlaceholderOwner = { readonly connector: string; readonly task?: number }

/** The values by placeholder; undefined where they could not be read. */
type KnownValues = { readonly connector: string; readonly values: ReadonlyMap<string, string | undefined> }

/** Resolves placeholders, and masks the resolved values in output. */
export class ConfigResolver {
  readonly #providers: ReadonlyMap<string, Provider>
  readonly #secrets: SecretMasker
  /** The values that connectors and tasks were started with, by owner. */
  readonly #known = new Map<string, KnownValues>()

  constructor(providers: ReadonlyMap<string, Provider>, secrets: SecretMasker) {
    this.#providers = providers
    this.#secrets = secrets
  }

  /** Whether resolving the configuration requires a config provider. */
  hasPlaceholders(raw: RawConfig): boolean {
    return Object.values(raw).some((text) => placeholdersIn(text).some(({ name }) => this.#providers.has(name)))
  }

  /**
   * Resolves the placeholders of a configuration. A placeholder with an unknown provider or key is left unchanged.
   * Rejects with a `UserError` when a provider cannot read its source. Resolved values are masked as long as `owner`
   * uses them, and recorded for `connectorsWithChangedValues`. With `signal`, reading has no time limit, and ends when the signal aborts.
   */
  async resolve(raw: RawConfig, owner?: PlaceholderOwner, signal?: AbortSignal): Promise<ResolvedConfig> {
    const placeholders = new Set(
      Object.values(raw).flatMap((text) => placeholdersIn(text).map((placeholder) => placeholder.text)),
    )
    const filledIn = await this.#values(placeholders, { signal }).catch((error: unknown) => {
      this.#setKnown(owner, new Map([...placeholders].map((placeholder) => [placeholder, undefined])))
      throw error
    })
    if (owner === undefined) this.#secrets.notice(filledIn.values())
    else this.#secrets.hold(nameOf(owner), filledIn.values())
    this.#setKnown(owner, filledIn)
    if (filledIn.size === 0) return { config: raw, placeholderValues: filledIn }
    const entries = Object.entries(raw).map(([key, text]) => [
      key,
      replacePlaceholders(text, (placeholder) => filledIn.get(placeholder.text) ?? placeholder.text),
    ])
    return { config: Object.fromEntries(entries), placeholderValues: filledIn }
  }

  /** Forgets and stops masking the values of an owner that has ended. */
  release(owner: PlaceholderOwner): void {
    this.#secrets.hold(nameOf(owner), [])
    this.#setKnown(owner, new Map())
  }

  #setKnown(owner: PlaceholderOwner | undefined, values: KnownValues['values']): void {
    if (owner === undefined) return
    if (values.size === 0) this.#known.delete(nameOf(owner))
    else this.#known.set(nameOf(owner), { connector: owner.connector, values })
  }

  /**
   * Returns those of the connectors whose placeholders now resolve to other values than they or their tasks were given, and
   * forgets all other connectors. An owner with a value that cannot be read counts as unchanged, because it could not start.
   */
  async connectorsWithChangedValues(
    connectors: readonly string[],
    onUnreadable: (error: unknown) => void,
  ): Promise<readonly string[]> {
    const wanted = new Set(connectors)
    for (const [owner, { connector }] of this.#known) if (!wanted.has(connector)) this.#known.delete(owner)
    const known = [...this.#known]
    const placeholders = new Set(known.flatMap(([, { values }]) => [...values.keys()]))
    const unreadable = new Set<string>()
    const now = await this.#values(placeholders, {
      onUnreadable: (error, place) => {
        onUnreadable(error)
        for (const placeholder of place) unreadable.add(placeholder)
      },
    })
    const stale = known.filter(
      ([owner, read]) =>
        // An owner that was started meanwhile may have newer values than were read here.
        this.#known.get(owner) === read &&
        ![...read.values.keys()].some((placeholder) => unreadable.has(placeholder)) &&
        [...read.values].some(([placeholder, value]) => now.get(placeholder) !== value),
    )
    return [...new Set(stale.map(([, { connector }]) => connector))]
  }

  /** Masks resolved values in a text. */
  mask(text: string): string {
    return this.#secrets.mask(text)
  }

  /** Reads each path of a provider once. Rejects when one cannot be read, unless `onUnreadable` is given. */
  async #values(
    placeholders: ReadonlySet<string>,
    { signal, onUnreadable }: ReadOptions,
  ): Promise<Map<string, string>> {
    const requests = [...placeholders].flatMap((placeholder) => {
      const [{ name, path, key } = NO_PLACEHOLDER] = placeholdersIn(placeholder)
      const read = this.#providers.get(name)
      return read ? [{ placeholder, name, path, key, read }] : []
    })
    const places = [...Map.groupBy(requests, ({ name, path }) => `${name}:${path}`).values()]
    const found = await Promise.all(
      places.map(async (place) => {
        const [{ name, path, read }] = place as [(typeof requests)[number]]
        const keys = [...new Set(place.map(({ key }) => key))]
        const values = await readPlace(name, path, () => read(path, keys, signal)).catch((error: unknown) => {
          if (!onUnreadable) throw error
          const unreadable = place.map(({ placeholder }) => placeholder)
          onUnreadable(error, unreadable)
          return {} as Values
        })
        return place.flatMap(({ placeholder, key }) =>
          Object.hasOwn(values, key) ? [[placeholder, values[key] as string] as const] : [],
        )
      }),
    )
    return new Map(found.flat())
  }
}

type ReadOptions = {
  readonly signal?: AbortSignal | undefined
  readonly onUnreadable?: (error: unknown, place: readonly string[]) => void
}

/** Distinct also for a connector `orders-0` and task 0 of a connector `orders`. */
function nameOf({ connector, task }: PlaceholderOwner): string {
  return task === undefined ? `placeholders of connector ${connector}` : `placeholders of task ${connector}-${task}`
}

/** Whether a text has a placeholder, of a known provider or not. */
export function hasPlaceholder(text: string): boolean {
  return placeholdersIn(text).length > 0
}

async function readPlace(name: string, path: string, read: () => Promise<Values> | Values): Promise<Values> {
  try {
    return await read()
  } catch (error) {
    const place = path === '' ? name : `${name}:${path}`
    throw new UserError('unreadable_placeholder', `cannot resolve \${${place}:…}: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

/**
 * Creates the config providers that `config.providers` lists, with their settings. Rejects with a `UserError` when a
 * provider is unknown or its settings are invalid.
 */
export async function createProviders(
  settings: RawConfig,
  plugins: PluginHost,
): Promise<ReadonlyMap<string, Provider>> {
  const names = commaSeparated(settings['config.providers'] ?? '')
  const providers = names.map(async (name) => [name, await createProvider(name, settings, plugins)] as const)
  return new Map(await Promise.all(providers))
}

async function createProvider(name: string, settings: RawConfig, plugins: PluginHost): Promise<Provider> {
  const prefix = `config.providers.${name}`
  const className = trimAsJava(settings[`${prefix}.class`] ?? '') || undefined
  const plugin = className === undefined ? undefined : plugins.catalog.find('provider', className)
  if (!plugin) {
    const known = plugins.catalog.list('provider').map((entry) => entry.class)
    const wrong = className === undefined ? 'is not set' : `'${className}' is not here`
    throw new UserError('invalid_settings', `${prefix}.class ${wrong}: there are ${known.join(', ')}`)
  }
  const config = settingsWithPrefix(`${prefix}.param.`, settings)
  try {
    await plugins.call('create-provider', plugin, { config })
  } catch (error) {
    throw new UserError('invalid_settings', `${prefix}.param: ${messageOf(error)}`, { cause: error })
  }
  return (path, keys, signal) => plugins.call('read-values', plugin, { config, path, keys }, signal)
}
