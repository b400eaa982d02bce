import { UserError } from '../../config/errors.ts'
import { SecretMasker } from '../../config/secret-masker.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ResolvedConfig } from '../configuration/config-resolver.ts'
import { replacePlaceholders } from '../configuration/placeholder.ts'

/** A shorter value may be part of anything. */
const REPLACED_LENGTH_MIN = 4

/**
 * The configuration of a task, made of a resolved one, as it may be stored: keys that held a placeholder hold it again,
 * and wherever else a value that was filled in appears, its placeholder stands for it. A value that appears in another
 * form would be stored in clear: that throws a `UserError`.
 */
export function toStoredTaskConfig(
  made: RawConfig,
  raw: RawConfig,
  { placeholderValues: filledIn }: Pick<ResolvedConfig, 'placeholderValues'>,
  isSecret: (key: string) => boolean,
): RawConfig {
  if (filledIn.size === 0) return made
  // The longest first: one value may be the beginning of another.
  const values = [...filledIn]
    .flatMap(([placeholder, value]) => [[placeholder, value] as const, [placeholder, value.trim()] as const])
    .filter(([, value]) => value.length >= REPLACED_LENGTH_MIN)
    .sort(([, a], [, b]) => b.length - a.length)
  const secrets = new SecretMasker()
  secrets.add(
    [...filledIn].flatMap(([placeholder, value]) => (mayBeDivided(placeholder, value, raw, isSecret) ? [] : [value])),
  )
  const entries = Object.entries(made).map(([key, text]) => {
    const written = raw[key]
    if (written !== undefined && [...filledIn.keys()].some((placeholder) => written.includes(placeholder))) {
      return [key, written]
    }
    if (text === written || key === 'task.class') return [key, text]
    const stored = values.reduce(
      (replaced, [placeholder, value]) => replaced.replaceAll(value, () => placeholder),
      text,
    )
    requireHidden(key, stored, secrets)
    return [key, stored]
  })
  return Object.fromEntries(entries)
}

/** A list or an address under a key that holds no secret, as connectors divide between their tasks. */
function mayBeDivided(placeholder: string, value: string, raw: RawConfig, isSecret: (key: string) => boolean): boolean {
  const keys = Object.keys(raw).filter((key) => raw[key]?.includes(placeholder))
  return !keys.some(isSecret) && /[,;\s]|:\/\//.test(value.trim())
}

function requireHidden(key: string, stored: string, secrets: SecretMasker): void {
  const clear = replacePlaceholders(stored, () => '\n')
  if (secrets.mask(clear) === clear) return
  throw new UserError(
    'unstorable_tasks',
    `the connector puts a value that stands for a placeholder into '${key}' of a task in another form (encoded, or a part of it), which would be stored in clear: give that key a placeholder of its own`,
  )
}
