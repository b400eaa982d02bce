import type { BrokerAddress } from '../broker/backend.ts'
import type { Setting } from '../config/settings.ts'
import { settingsFromFile, settingsFromFlags } from '../config/settings-sources.ts'
import { UsageError } from './command.ts'

/** Options of every program: where its settings and its log are. */
export const PROGRAM_OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  config: { type: 'string' },
  set: { type: 'string', multiple: true },
  bootstrap: { type: 'string' },
  data: { type: 'string' },
  'data-fsync': { type: 'string' },
  'grace-period': { type: 'string' },
} as const

export const PROGRAM_HELP = `  --config FILE           settings, as Kafka's programs write them (.properties)
  --set KEY=VALUE         one setting; wins over the file; may be given several times
  --bootstrap HOST:PORT,… the Kafka cluster whose topics hold everything
  --data DIR              no Kafka: an embedded broker that keeps its data in DIR
  --data-fsync WHEN       of the embedded broker: commit syncs the disk before each write is acknowledged, so that a power
                          cut costs nothing; default: checkpoint, every 16 MB
  --grace-period SECONDS  how long it may take to stop after SIGTERM or Ctrl-C before its process ends as it is; default 25
  --help`

type SettingFlags = { readonly config?: string | undefined; readonly set?: string[] | undefined }
type BrokerFlags = {
  readonly bootstrap?: string | undefined
  readonly data?: string | undefined
  readonly 'data-fsync'?: string | undefined
}

/** What is written about a program, the file first, then its environment: what comes later wins. */
export function readSettings(
  { config, set = [] }: SettingFlags,
  environment: readonly Setting[] = [],
): readonly Setting[] {
  return [...(config === undefined ? [] : settingsFromFile(config)), ...environment, ...settingsFromFlags(set)]
}

/** What a program was configured by and where its data is: no connector of its worker may use them. */
export function protectedFiles({ config }: SettingFlags, log: BrokerAddress | undefined): readonly string[] {
  const data = log?.kind === 'embedded' ? [log.directory] : []
  return config === undefined ? data : [config, ...data]
}

/** Undefined when neither is given. */
export function brokerAddressFromFlags(values: BrokerFlags): BrokerAddress | undefined {
  const { bootstrap, data } = values
  if (bootstrap !== undefined && data !== undefined) {
    throw new UsageError('--bootstrap and --data are two places for the same thing: give one of them')
  }
  if (data !== undefined) return embeddedBrokerAddress(data, values)
  if (values['data-fsync'] !== undefined) {
    throw new UsageError('--data-fsync is of an embedded broker: give --data DIR, too')
  }
  return bootstrap === undefined ? undefined : kafkaBrokerAddress(bootstrap, {})
}

/** An embedded broker whose data is in this directory. */
export function embeddedBrokerAddress(directory: string, { 'data-fsync': fsync }: BrokerFlags): BrokerAddress {
  if (fsync === undefined) return { kind: 'embedded', directory }
  if (fsync === 'commit' || fsync === 'checkpoint') return { kind: 'embedded', directory, fsync }
  throw new UsageError(`--data-fsync ${fsync}: expected commit or checkpoint`)
}

/** The log of a command that runs several programs: settings that begin with none of their names are Kafka's clients'. */
export function stackBrokerAddress(values: BrokerFlags, settings: readonly Setting[]): BrokerAddress | undefined {
  const address = brokerAddressFromFlags(values)
  if (address?.kind !== 'kafka') return address
  const own = settings.filter(({ key }) => !/^(registry|worker)\./.test(key))
  return {
    kind: 'kafka',
    config: { ...Object.fromEntries(own.map(({ key, value }) => [key, value])), ...address.config },
  }
}

/** The settings of one of several programs, without its name. */
export function settingsOfProgram(program: 'registry' | 'worker', settings: readonly Setting[]): readonly Setting[] {
  const prefix = `${program}.`
  return settings.flatMap((setting) =>
    setting.key.startsWith(prefix) ? [{ ...setting, key: setting.key.slice(prefix.length) }] : [],
  )
}

/** A Kafka cluster and the settings of its clients. */
export function kafkaBrokerAddress(bootstrap: string, config: Readonly<Record<string, string>>): BrokerAddress {
  const wrong = bootstrap
    .split(',')
    .find((one) => !/^(?:[A-Z_]+:\/\/)?(?:\[[0-9a-f:.]+\]|[^:\s]+):\d{1,5}$/i.test(one.trim()))
  if (wrong !== undefined) {
    throw new UsageError(`'${wrong}' is no broker: expected HOST:PORT, such as 127.0.0.1:9092`)
  }
  return { kind: 'kafka', config: { ...config, 'bootstrap.servers': bootstrap } }
}

/** The log that flags name, else the one that settings name. `setting` is the name of the setting that would. */
export function resolveBrokerAddress(
  values: BrokerFlags,
  setting: { readonly name: string; readonly value: string | undefined },
  client: Readonly<Record<string, string>>,
): BrokerAddress {
  const given = brokerAddressFromFlags(values)
  if (given?.kind === 'kafka') return { kind: 'kafka', config: { ...client, ...given.config } }
  if (given !== undefined) return given
  if (setting.value) return kafkaBrokerAddress(setting.value, client)
  throw new UsageError(
    `where is the log? --bootstrap HOST:PORT (or --set ${setting.name}=…) names a Kafka cluster, --data DIR an embedded broker`,
  )
}
