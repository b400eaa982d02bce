import type { BrokerAddress } from '../broker/broker-address.ts'
import type { Setting } from '../config/settings.ts'
import { settingsFromSources } from '../config/settings-sources.ts'

/** Options of every program: its settings, its broker and how long it may take to stop. */
export const PROGRAM_OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  config: { type: 'string' },
  set: { type: 'string', multiple: true },
  bootstrap: { type: 'string' },
  data: { type: 'string' },
  'data-fsync': { type: 'string' },
  'grace-period': { type: 'string' },
} as const

export const PROGRAM_HELP = `  --config FILE           a .properties file with settings, as Kafka's programs read it
  --set KEY=VALUE         one setting; overrides the file; may be repeated
  --bootstrap HOST:PORT,… Kafka brokers to connect to
  --data DIR              use an embedded broker with its data in DIR instead of Kafka
  --data-fsync WHEN       when the embedded broker syncs to disk: checkpoint (default, every 16 MB) or commit (before each
                          write is acknowledged, so that a power cut loses nothing)
  --grace-period SECONDS  time to stop after SIGTERM or Ctrl-C before the process is killed; default 25
  --help`

/** The default `group.id` of the worker in the process of an operator or of `weir up`. */
export const STACK_GROUP_ID = 'weir-up'

type SettingFlags = { readonly config?: string | undefined; readonly set?: string[] | undefined }

/** The settings of `--config`, of the environment and of `--set`. */
export function readProgramSettings(
  { config, set = [] }: SettingFlags,
  environment: readonly Setting[] = [],
): readonly Setting[] {
  return settingsFromSources({ file: config, environment, flags: set })
}

/** The settings whose keys begin with `registry.` or `worker.`, without that prefix. */
export function settingsOfProgram(program: 'registry' | 'worker', settings: readonly Setting[]): readonly Setting[] {
  const prefix = `${program}.`
  return settings.flatMap((setting) =>
    setting.key.startsWith(prefix) ? [{ ...setting, key: setting.key.slice(prefix.length) }] : [],
  )
}

/** The settings file and the data directory, which connectors of the program's worker must not access. */
export function protectedFiles({ config }: SettingFlags, broker: BrokerAddress | undefined): readonly string[] {
  const own = brokerFiles(broker)
  return config === undefined ? own : [config, ...own]
}

/** The data directory of an embedded broker, or the files that the settings of Kafka's clients name. */
export function brokerFiles(broker: BrokerAddress | undefined): readonly string[] {
  if (broker?.kind === 'embedded') return [broker.directory]
  if (broker?.kind !== 'kafka') return []
  return Object.entries(broker.config).flatMap(([key, path]) =>
    key.endsWith('.location') && path !== '' ? [path] : [],
  )
}
