import { readFileSync } from 'node:fs'
import { messageOf, UserError } from '../common/errors.ts'
import { type PropertiesFile, readProperties } from './properties.ts'
import type { Setting } from './settings.ts'

/** The places from which a program takes its settings. */
export type SettingsSources = {
  /** A `.properties` file. */
  readonly file: string | undefined
  /** Settings of environment variables, see `settingsFromEnvironment`. */
  readonly environment: readonly Setting[]
  /** `KEY=VALUE` of the command line. */
  readonly flags: readonly string[]
}

/** All settings in order of precedence, the lowest first: the file, the environment, the command line. */
export function settingsFromSources({ file, environment, flags }: SettingsSources): readonly Setting[] {
  return [...(file === undefined ? [] : settingsFromFile(file)), ...environment, ...settingsFromFlags(flags)]
}

/** Reads settings from a `.properties` file. Throws a `UserError` if the file cannot be read or is invalid. */
export function settingsFromFile(path: string): readonly Setting[] {
  let file: PropertiesFile
  try {
    file = readProperties(readFileSync(path))
  } catch (error) {
    throw new UserError('unreadable_settings', `cannot read the settings file ${path}: ${messageOf(error)}`)
  }
  const { properties, ambiguousLine } = file
  const warning = ambiguousLine === undefined ? {} : { warning: ambiguityWarning(path, ambiguousLine) }
  return [...properties].map(([key, { value, line }]) => ({ key, value, source: `${path}:${line}`, ...warning }))
}

function ambiguityWarning(path: string, line: number): string {
  return (
    `${path}:${line}: the characters beyond ASCII are read as ISO 8859-1, as Kafka's programs read them, although the file is valid UTF-8: ` +
    'replace them by escapes such as \\u00fc'
  )
}

/** Parses `KEY=VALUE` settings of the command line. */
function settingsFromFlags(flags: readonly string[]): readonly Setting[] {
  return flags.map((flag) => {
    const at = flag.indexOf('=')
    if (at < 1) throw new UserError('invalid_settings', `--set ${flag}: expected KEY=VALUE`)
    return { key: flag.slice(0, at).trim(), value: flag.slice(at + 1), source: '--set' }
  })
}

/**
 * Reads settings from environment variables as the container images of the originals name them: `PREFIX_` and the key
 * in upper case, with `_` for `.`, `__` for `_` and `___` for `-`.
 */
export function settingsFromEnvironment(
  prefix: string,
  environment: Readonly<Record<string, string | undefined>>,
): readonly Setting[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    name.startsWith(`${prefix}_`) && value !== undefined
      ? [{ key: keyOf(name.slice(prefix.length + 1)), value, source: `environment ${name}` }]
      : [],
  )
}

function keyOf(name: string): string {
  return name.toLowerCase().replace(/_{1,3}/g, (run) => (run.length === 1 ? '.' : run.length === 2 ? '_' : '-'))
}
