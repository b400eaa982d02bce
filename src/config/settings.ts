import { z } from 'zod'
import { UserError } from '../common/errors.ts'
import { isSecretKey, MASK, secretValuesIn } from '../common/secrets/secret-keys.ts'
import { trimAsJava } from '../common/trim-as-java.ts'

/**
 * The settings of a program: a zod object with the documented setting names (`listeners`, `brokerstore.topic`), parsed
 * from strings; `aliases` lists other spellings.
 */
export type SettingsSpec<Shape extends z.ZodObject> = {
  readonly program: string
  readonly shape: Shape
  /** Alias → documented name. A name ending in `*` maps a prefix. */
  readonly aliases: Readonly<Record<string, string>>
  /** Prefixes of keys that are passed through (to Kafka clients, to topics). */
  readonly passThrough: readonly string[]
  /** Settings of the originals without effect here, and why. A name ending in `*` stands for a prefix. */
  readonly withoutEffect?: Readonly<Record<string, string>>
}

/** A setting with its source: `worker.properties:12`, `--set`, `environment CONNECT_GROUP_ID`. */
export type Setting = {
  readonly key: string
  readonly value: string
  readonly source: string
  /** About its source, to be logged once. */
  readonly warning?: string
}

export type Settings<Shape extends z.ZodObject> = {
  readonly values: z.infer<Shape>
  /** Keys under a pass-through prefix and unknown keys. */
  readonly rest: Readonly<Record<string, string>>
  /** Messages for the log: unknown keys with their source. */
  readonly warnings: readonly string[]
  /** Values of secret keys and credentials inside other values, to be masked in the log. */
  readonly secrets: readonly string[]
}

/**
 * Parses settings; a later setting overrides an earlier one. An unknown key is a warning. Invalid values are reported
 * together in one error with key, value, source and the expected value.
 */
export function readSettings<Shape extends z.ZodObject>(
  spec: SettingsSpec<Shape>,
  written: readonly Setting[],
): Settings<Shape> {
  const byKey = new Map<string, Setting>()
  const spelled = new Map<string, Setting>()
  for (const setting of written) {
    const key = documentedName(setting.key, spec.aliases)
    const other = spelled.get(key)
    if (other && originOf(other) === originOf(setting) && other.key !== setting.key && other.value !== setting.value) {
      throw new UserError(
        'invalid_settings',
        `'${other.key}' and '${setting.key}' are names of the same setting with different values ('${shown(other)}', '${shown(setting)}'): remove one of them`,
      )
    }
    spelled.set(key, setting)
    byKey.set(key, { ...setting, key })
  }
  const known = new Set(Object.keys(spec.shape.shape))
  const rest: Record<string, string> = {}
  const warnings = [...new Set(written.flatMap(({ warning }) => warning ?? []))]
  for (const [key, { value, source }] of byKey) {
    if (known.has(key)) continue
    const reason = renamed(key, spec.withoutEffect ?? {})?.value
    if (reason !== undefined) {
      warnings.push(`${source}: '${key}' has no effect: ${reason}`)
      continue
    }
    rest[key] = value
    if (!spec.passThrough.some((prefix) => key.startsWith(prefix))) {
      warnings.push(`${source}: ${spec.program} has no setting '${key}': it is ignored`)
    }
  }
  const input = Object.fromEntries([...byKey].filter(([key]) => known.has(key)).map(([key, s]) => [key, s.value]))
  const parsed = spec.shape.safeParse(input)
  if (!parsed.success) throw new UserError('invalid_settings', wrongValues(parsed.error, byKey))
  const secrets = secretValuesIn(Object.fromEntries([...byKey].map(([key, { value }]) => [key, value])))
  return { values: parsed.data as z.infer<Shape>, rest, warnings, secrets }
}

function documentedName(key: string, aliases: Readonly<Record<string, string>>): string {
  const found = renamed(key, aliases)
  if (!found) return key
  return found.value.endsWith('*') ? found.value.slice(0, -1) + key.slice(found.name.length - 1) : found.value
}

/** The entry of a table with this name, or else with a prefix (`x.*`) of it. */
function renamed(
  key: string,
  table: Readonly<Record<string, string>>,
): { readonly name: string; readonly value: string } | undefined {
  if (Object.hasOwn(table, key)) return { name: key, value: table[key] ?? '' }
  const prefix = Object.entries(table).find(([name]) => name.endsWith('*') && key.startsWith(name.slice(0, -1)))
  return prefix && { name: prefix[0], value: prefix[1] }
}

/** The file, the flags or the environment, within which two names of one setting must agree. */
function originOf({ source }: Setting): string {
  return source.replace(/:\d+$/, '').replace(/^environment .*/, 'environment')
}

function shown({ key, value }: Setting): string {
  return isSecretKey(key) ? MASK : value
}

function wrongValues(error: z.ZodError, byKey: ReadonlyMap<string, Setting>): string {
  return error.issues
    .map((issue) => {
      const key = String(issue.path[0] ?? '')
      const setting = byKey.get(key)
      return setting
        ? `${setting.source}: ${key}=${shown(setting)}: ${issue.message}`
        : `setting '${key}' is missing: ${issue.message}`
    })
    .join('\n')
}

// Parsers of setting values. `takes` describes the valid values on generated pages.

export function integerSetting(limits: { min?: number; max?: number } = {}) {
  const { min = -(2 ** 31), max = 2 ** 31 - 1 } = limits
  const expected = `expected a whole number from ${min} to ${max}`
  return z
    .string()
    .overwrite(trimAsJava)
    .regex(/^[-+]?\d+$/, expected)
    .transform(Number)
    .refine((value) => value >= min && value <= max, expected)
    .meta({ takes: `${min} to ${max}` })
}

export function booleanSetting() {
  return z
    .string()
    .overwrite(trimAsJava)
    .toLowerCase()
    .pipe(z.enum(['true', 'false'], 'expected true or false'))
    .transform((text) => text === 'true')
    .meta({ takes: 'true, false' })
}

/** Comma-separated, as `commaSeparated` reads it. */
export function listSetting() {
  return z.string().transform(commaSeparated).meta({ takes: 'a list' })
}

/** Trims items and drops empty ones. */
export function commaSeparated(text: string): readonly string[] {
  return text.split(',').flatMap((item) => trimAsJava(item) || [])
}

/** The settings with a prefix, without it. */
export function settingsWithPrefix<T>(
  prefix: string,
  settings: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  const found = Object.entries(settings).filter(([key]) => key.startsWith(prefix))
  return Object.fromEntries(found.map(([key, value]) => [key.slice(prefix.length), value]))
}

/** One of a set of words, case-insensitive; returns the word as listed. */
export function enumSetting<const Words extends readonly [string, ...string[]]>(words: Words) {
  const expected = words.filter((w) => w !== '').join(', ')
  return z
    .string()
    .transform((text, context): Words[number] => {
      const found = words.find((w) => w.toLowerCase() === trimAsJava(text).toLowerCase())
      if (found !== undefined) return found
      context.addIssue({ code: 'custom', message: `expected one of ${expected}` })
      return z.NEVER
    })
    .meta({ takes: expected })
}
