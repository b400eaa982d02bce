import { UserError } from '../../common/errors.ts'
import { SecretMasker } from '../../common/secrets/secret-masker.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ResolvedConfig } from '../configuration/config-resolver.ts'
import { replacePlaceholders } from '../configuration/placeholder.ts'

/** Minimum length of a value that is replaced. A shorter value can occur anywhere by chance. */
const REPLACED_LENGTH_MIN = 4

/**
 * Converts a generated task configuration into the form in which it is stored, without resolved values: keys that had a
 * placeholder get it back, and resolved values in other keys are replaced by their placeholders. Throws a `UserError`
 * when a resolved value remains in a changed form (encoded, or a part of it), which would be stored in clear text.
 */
export function toStoredTaskConfig(
  made: RawConfig,
  raw: RawConfig,
  { placeholderValues: filledIn }: Pick<ResolvedConfig, 'placeholderValues'>,
  isSecret: (key: string) => boolean,
): RawConfig {
  if (filledIn.size === 0) return made
  // Longest first, because one value may be a prefix of another.
  const values = [...filledIn]
    .flatMap(([placeholder, value]) => [[placeholder, value] as const, [placeholder, trimAsJava(value)] as const])
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

/** Whether the value is a list or an address of non-secret keys, which connectors divide between their tasks. */
function mayBeDivided(placeholder: string, value: string, raw: RawConfig, isSecret: (key: string) => boolean): boolean {
  const keys = Object.keys(raw).filter((key) => raw[key]?.includes(placeholder))
  return !keys.some(isSecret) && /[,;\s]|:\/\//.test(trimAsJava(value))
}

function requireHidden(key: string, stored: string, secrets: SecretMasker): void {
  const clear = replacePlaceholders(stored, () => '\n')
  if (secrets.mask(clear) === clear) return
  throw new UserError(
    'unstorable_tasks',
    `the connector puts a value that stands for a placeholder into '${key}' of a task in another form (encoded, or a part of it), which would be stored in clear: give that key a placeholder of its own`,
  )
}
