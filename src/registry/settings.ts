import { z } from 'zod'
import { COMPATIBILITY_LEVELS } from '../clients/registry.ts'
import {
  boolean,
  integer,
  list,
  readSettings,
  type Setting,
  type Settings,
  type SettingsSpec,
  word,
} from '../config/settings.ts'
import type { Defaults } from './scope.ts'

const LIST_MAX = 2 ** 31 - 1

const shape = z.object({
  listeners: list().default(['http://0.0.0.0:8081']).describe('Where the registry answers.'),
  'host.name': z.string().default('').describe('Name under which other instances reach this one.'),
  'schema.registry.group.id': z
    .string()
    .default('schema-registry')
    .describe('Group of the instances that elect a leader.'),
  'master.eligibility': boolean().default(true).describe('Whether this instance may become the leader.'),
  'leader.election.sticky': boolean().default(true).describe('Whether a leader stays one when instances come and go.'),
  'leader.read.timeout.ms': integer({ min: 1 }).default(60_000).describe('How long the leader may take to answer.'),
  'inter.instance.headers.whitelist': list().default([]).describe('More headers that are passed on to the leader.'),
  'brokergroup.session.timeout.ms': integer({ min: 1 })
    .default(10_000)
    .describe('How long an instance may be silent before another one leads.'),
  'brokergroup.heartbeat.interval.ms': integer({ min: 1 })
    .default(3_000)
    .describe('How often an instance says that it lives.'),
  'brokerstore.bootstrap.servers': z.string().default('').describe('Brokers that hold the topic, HOST:PORT,…'),
  'brokerstore.topic': z.string().min(1).default('_schemas').describe('Topic that holds everything.'),
  'brokerstore.topic.replication.factor': integer({ min: 1, max: 32_767 })
    .default(3)
    .describe('Replicas of the topic, when it is made.'),
  'brokerstore.topic.skip.validation': boolean().default(false).describe('Takes the topic as it is.'),
  'brokerstore.timeout.ms': integer({ min: 1 }).default(5_000).describe('How long one write may take.'),
  'brokerstore.init.timeout.ms': integer({ min: 1 }).default(60_000).describe('How long reading the topic may take.'),
  'brokerstore.write.max.retries': integer({ min: 0 })
    .default(5)
    .describe('How often an id that is taken is replaced.'),
  'schema.compatibility.level': word(COMPATIBILITY_LEVELS)
    .default('BACKWARD')
    .describe('Level where none is configured.'),
  'schema.validate.fields': boolean().default(false).describe('Checks reserved field names.'),
  'schema.validate.new.schemas': boolean()
    .default(true)
    .describe('Checks new schemas to the letter of their language.'),
  'schema.reject.empty.subject': boolean().default(false).describe('Refuses the subject without a name.'),
  'schema.cache.size': integer({ min: 1 }).default(1_000).describe('How many schemas are held parsed.'),
  'schema.cache.expiry.ms': integer({ min: 0 }).default(300_000).describe('How long an unused one is held.'),
  'mode.mutability': boolean().default(true).describe('Whether modes may be changed.'),
  'schema.search.default.limit': integer({ min: 1 }).default(1_000).describe('Page size of GET /schemas.'),
  'schema.search.max.limit': integer({ min: 1 }).default(1_000).describe('Largest page of GET /schemas.'),
  'subject.search.default.limit': integer({ min: 1 }).default(LIST_MAX).describe('Page size of GET /subjects.'),
  'subject.search.max.limit': integer({ min: 1 }).default(LIST_MAX).describe('Largest page of GET /subjects.'),
  'subject.version.search.default.limit': integer({ min: 1 })
    .default(LIST_MAX)
    .describe('Page size of lists of versions.'),
  'subject.version.search.max.limit': integer({ min: 1 })
    .default(LIST_MAX)
    .describe('Largest page of lists of versions.'),
  'context.search.default.limit': integer({ min: 1 }).default(LIST_MAX).describe('Page size of GET /contexts.'),
  'context.search.max.limit': integer({ min: 1 }).default(LIST_MAX).describe('Largest page of GET /contexts.'),
  'weir.response.profile': word(['7', '8'])
    .default('8')
    .describe('Whose answers clients get: those of the original up to 7.9, or from 8.0 on.'),
})

/** Names of the original and older ones, by the documented name. */
const aliases = {
  'kafkastore.*': 'brokerstore.*',
  'kafkagroup.*': 'brokergroup.*',
  'leader.eligibility': 'master.eligibility',
  'avro.compatibility.level': 'schema.compatibility.level',
}

const spec: SettingsSpec<typeof shape> = {
  program: 'the schema registry',
  shape,
  aliases,
  passThrough: [
    'brokerstore.',
    'brokergroup.',
    'inter.instance.',
    'leader.',
    'authentication.',
    'ssl.',
    'metadata.encoder.',
    'metrics.',
    'access.control.',
    'response.mediatype.',
  ],
}

export type RegistrySettings = Settings<typeof shape>
export type RegistryValues = RegistrySettings['values']

/** Throws a `UserError` that names every wrong value. */
export function registrySettings(written: readonly Setting[]): RegistrySettings {
  return readSettings(spec, written.map(inMilliseconds))
}

/** The original's cache expiry is in seconds, the documented one in milliseconds. */
function inMilliseconds(setting: Setting): Setting {
  if (setting.key !== 'schema.cache.expiry.secs' || !/^\d+$/.test(setting.value.trim())) return setting
  return { ...setting, key: 'schema.cache.expiry.ms', value: `${setting.value.trim()}000` }
}

/** Settings of `brokerstore.` that this program does not know itself, without the prefix: they are the log's client's. */
export function brokerSettings({ rest }: RegistrySettings): Readonly<Record<string, string>> {
  return withPrefix(rest, 'brokerstore.')
}

/** Settings of the topic, for when it is made. */
export function topicSettings({ rest }: RegistrySettings): Readonly<Record<string, string>> {
  return withPrefix(rest, 'brokerstore.topic.config.')
}

function withPrefix(settings: Readonly<Record<string, string>>, prefix: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([key, value]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [],
    ),
  )
}

/** What counts where nothing is configured. */
export function registryDefaults(values: RegistryValues): {
  readonly defaults: Defaults
  readonly modesMutable: boolean
} {
  return {
    defaults: {
      mode: 'READWRITE',
      config: {
        compatibilityLevel: values['schema.compatibility.level'],
        ...(values['schema.validate.fields'] ? { validateFields: true } : {}),
        ...(values['schema.validate.new.schemas'] ? {} : { validateNewSchemas: false }),
      },
    },
    modesMutable: values['mode.mutability'],
  }
}
