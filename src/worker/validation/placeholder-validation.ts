import type { ConfigInfos } from '../../clients/worker-client.ts'
import { messageOf } from '../../common/errors.ts'
import { MASK } from '../../common/secrets/secret-keys.ts'
import { SecretMasker } from '../../common/secrets/secret-masker.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import { field } from '../../sdk/index.ts'
import { hasPlaceholder, type ResolvedConfig } from '../configuration/config-resolver.ts'
import { type WrittenConfig, withoutNulls } from '../configuration/written-config.ts'
import { WorkerError } from '../model/worker-error.ts'

/**
 * Validates a configuration without resolving its placeholders. `connects`: whether the connector also checks the configuration
 * against its external system, such as a database. This needs a configuration whose placeholders are resolved.
 */
export type Validate = (
  config: WrittenConfig,
  options: { readonly connects: boolean },
) => ConfigInfos | Promise<ConfigInfos>

/** Keys with a list of aliases, which become parts of other keys. */
const ALIAS_LISTS = ['transforms', 'predicates']
const CLASS = 'connector.class'
/** Minimum length of a value that is masked within a message. */
const FOUND_LENGTH_MIN = 4

/** Validates a configuration without its resolved values: a placeholder or mask is accepted as the value of any key. */
export async function validateUnresolved(written: WrittenConfig, validate: Validate): Promise<ConfigInfos> {
  const validation = await validate(withoutPlaceholderAliases(written), { connects: false })
  const isOpen = (name: string) => hasPlaceholder(written[name] ?? '') || (written[name] ?? '').includes(MASK)
  const dropped = validation.configs
    .filter(({ value }) => isOpen(value.name))
    .reduce((count, { value }) => count + value.errors.length, 0)
  const configs = validation.configs.map((entry) => {
    const { value } = entry
    if (!isOpen(value.name)) return entry
    const shown = value.value === MASK ? MASK : (written[value.name] ?? null)
    return { ...entry, value: { ...value, value: shown, errors: [] } }
  })
  return { ...validation, configs, error_count: validation.error_count - dropped }
}

/**
 * Validates the resolved configuration without disclosing resolved values: the response has the entries of
 * `validateUnresolved`, and the messages for the resolved configuration with resolved values masked.
 */
export async function validateResolved(
  written: WrittenConfig,
  { config, placeholderValues: filledIn }: ResolvedConfig,
  validate: Validate,
): Promise<ConfigInfos> {
  if (filledIn.size === 0) return validate(written, { connects: true })
  const whole = Object.entries(config).flatMap(([key, value]) => (value === written[key] ? [] : [value]))
  const conceal = concealer([...filledIn.values(), ...whole])
  const validateConcealed: Validate = async (input, options) => {
    try {
      return await validate(input, options)
    } catch (error) {
      if (error instanceof WorkerError) throw new WorkerError(error.code, conceal(messageOf(error), CLASS))
      throw error
    }
  }
  const hasClass = !hasPlaceholder(written[CLASS] ?? '')
  const unresolved = await (hasClass
    ? validateUnresolved(written, validate)
    : validateUnresolved({ ...written, [CLASS]: config[CLASS] ?? '' }, validateConcealed))
  // Messages that were created without resolved values can be returned unchanged.
  const own = new Set(hasClass ? unresolved.configs.flatMap(({ value }) => value.errors) : [])
  const resolved = await validateConcealed({ ...written, ...config }, { connects: true })
  const names = new Set(unresolved.configs.map(({ value }) => value.name))
  const errors = Map.groupBy(
    resolved.configs.flatMap(({ value: { name, errors } }) => {
      const at = names.has(name) ? name : ownerOf(name, names)
      return errors.map((message) => ({ at, message: own.has(message) ? message : conceal(message, at) }))
    }),
    ({ at }) => at,
  )
  return {
    ...unresolved,
    name: written[CLASS] ?? '',
    error_count: resolved.error_count,
    configs: unresolved.configs.map((entry) => {
      const { name } = entry.value
      const isFilledIn = config[name] !== undefined && config[name] !== written[name]
      const value = isFilledIn && entry.value.value !== MASK ? written[name] : entry.value.value
      const messages = (errors.get(name) ?? []).map(({ message }) => message)
      return { ...entry, value: { ...entry.value, value: value ?? null, errors: messages } }
    }),
  }
}

/**
 * Returns a function that masks resolved values in a message. Parts of at least 4 characters are masked wherever they
 * occur. If a part is shorter, the whole message is replaced.
 */
function concealer(values: readonly string[]): (message: string, key: string) => string {
  const secrets = new SecretMasker()
  secrets.add(values)
  const parts = new Set(
    [...values, ...values.flatMap((value) => value.split(/[,;\n]/))].map((part) => trimAsJava(part)),
  )
  parts.delete('')
  const isShort = [...parts].some((part) => part.length < FOUND_LENGTH_MIN)
  const ordered = [...parts].sort((a, b) => b.length - a.length)
  return (message, key) =>
    isShort
      ? `Invalid value ${MASK} for configuration ${key}`
      : ordered.reduce((masked, part) => masked.replaceAll(part, MASK), secrets.mask(message))
}

/**
 * Returns the key under which an error of the key `name` is reported. For `transforms.a.field` that is the first of
 * `transforms.a.type` and `transforms` that exists; without such a key it is `connector.class`.
 */
function ownerOf(name: string, names: ReadonlySet<string>): string {
  for (let end = name.lastIndexOf('.'); end > 0; end = name.lastIndexOf('.', end - 1)) {
    const above = name.slice(0, end)
    if (names.has(`${above}.type`)) return `${above}.type`
    if (names.has(above)) return above
  }
  return CLASS
}

function withoutPlaceholderAliases(written: WrittenConfig): WrittenConfig {
  const lists = ALIAS_LISTS.filter((key) => hasPlaceholder(written[key] ?? '')).map((key) => {
    const aliases = field.listItems(withoutNulls(written)[key] ?? '').filter((alias) => !hasPlaceholder(alias))
    return [key, aliases.join(',')]
  })
  return { ...written, ...Object.fromEntries(lists) }
}
