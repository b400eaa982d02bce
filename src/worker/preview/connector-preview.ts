import { isDeepStrictEqual } from 'node:util'
import type { Broker } from '../../broker/broker.ts'
import { messageOf } from '../../common/errors.ts'
import { Semaphore } from '../../common/semaphore.ts'
import type { Rights } from '../../http/permissions.ts'
import { field, type RawConfig } from '../../sdk/index.ts'
import { clientSettings } from '../configuration/client-settings.ts'
import type { ConfigResolver } from '../configuration/config-resolver.ts'
import { connectionDifference } from '../configuration/connection-difference.ts'
import { type ConnectorPlugin, findConnector, missingConnector } from '../configuration/connector-plugin.ts'
import { rejectMasks, restoreMaskedSecrets } from '../configuration/masked-config.ts'
import { parseTaskConfig } from '../configuration/task-config.ts'
import type { WrittenConfig } from '../configuration/written-config.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { PipelineOutcome, PluginHost, PluginName } from '../plugin-host.ts'
import type { ConnectorState } from '../stores/config-state.ts'
import { findPlugin } from '../tasks/find-plugin.ts'
import { configuredTransformations, pipelinePlugins } from '../tasks/pipeline-plugins.ts'
import type { TopicAccess } from '../topic-access/topic-access.ts'
import type { RecordView } from '../topics/describe-record.ts'
import type { SampledRecord, TopicRecords } from '../topics/topic-records.ts'

export type ConnectorPreviewOptions = {
  readonly broker: Broker
  readonly records: TopicRecords
  readonly plugins: PluginHost
  readonly resolver: ConfigResolver
  readonly connector: (name: string) => ConnectorState | undefined
  /** The topics that a connector has used. */
  readonly topicsOf: (connector: string) => readonly string[]
  readonly converterDefaults: RawConfig
  readonly clientDefaults: RawConfig
  /** Decides which topics a connector could use with a configuration. */
  readonly accessWith: (connector: string, config: RawConfig) => TopicAccess
}

type PreviewedRecord = PipelineOutcome & {
  readonly topic: string
  /** As it is stored. */
  readonly stored: RecordView
  /** Why it did not pass the plugins; null if it did. */
  readonly problem: string | null
}

type PreviewReport = {
  readonly kind: 'source' | 'sink'
  /** The topics whose records are shown. */
  readonly topics: readonly string[]
  /** What the preview leaves out, and why. */
  readonly notes: readonly string[]
  /** The newest first. */
  readonly records: readonly PreviewedRecord[]
}

/** What the plugins of a preview are given. */
type Plan = {
  readonly kind: 'source' | 'sink'
  readonly config: RawConfig
  readonly topics: readonly string[]
  readonly notes: readonly string[]
}

const RECORDS_MAX = 10
const TOPICS_MAX = 10
const PREVIEWS_MAX = 2
const WAITING_MAX = 4

/**
 * Shows what the converters and transformations of a configuration, which is not saved yet, make of the last records of its topics.
 * Nothing is written, and no consumer group is used. Every method may throw a `WorkerError`.
 */
export class ConnectorPreview {
  readonly #options: ConnectorPreviewOptions
  readonly #previews = new Semaphore(PREVIEWS_MAX, {
    waitingMax: WAITING_MAX,
    full: () => new WorkerError('records_busy', `${WAITING_MAX} previews wait already: try again`),
  })

  constructor(options: ConnectorPreviewOptions) {
    this.#options = options
  }

  /** `rights` are those of the user on topics. `onTopics` is called with the topics that are read. */
  preview(
    name: string,
    written: WrittenConfig,
    rights: Rights,
    onTopics: (topics: readonly string[]) => void,
  ): Promise<PreviewReport> {
    return this.#previews.run(async () => {
      const config = await this.#resolve(name, written)
      const { plugins } = this.#options
      const connector = findConnector(plugins.catalog, config)
      if (connector === undefined) throw invalid(missingConnector(plugins.catalog, config))
      const plan = await this.#plan(name, config, connector, rights)
      for (const topic of plan.topics) rights.require('read', topic)
      onTopics(plan.topics)
      const { kind, topics, notes } = plan
      // Not the plan as such: it has resolved secrets.
      if (topics.length === 0) return { kind, topics, notes, records: [] }
      const host = this.#hostOf(plan.config)
      const { sampled, missing } = await this.#sample(topics)
      const records = await this.#process(plan, host, sampled)
      return this.#masked({ kind, topics, notes: [...notes, ...missing], records })
    })
  }

  /** As when it is saved: with stored secrets in place of their masks, and with resolved placeholders. */
  async #resolve(name: string, written: WrittenConfig): Promise<RawConfig> {
    const { connector, plugins, resolver } = this.#options
    const texts = Object.fromEntries(Object.entries(written).filter(([, value]) => value !== null))
    const restored = restoreMaskedSecrets({ ...texts, name }, connector(name)?.config, plugins.catalog)
    rejectMasks(restored.unknown)
    try {
      return (await resolver.resolve(restored.config as RawConfig)).config
    } catch (error) {
      throw invalid(error)
    }
  }

  #plan(name: string, config: RawConfig, { kind }: ConnectorPlugin, rights: Rights): Promise<Plan> {
    return kind === 'sink' ? this.#planSink(name, config, rights) : this.#planSource(name, config)
  }

  async #planSink(name: string, config: RawConfig, rights: Rights): Promise<Plan> {
    const { topics: named } = parsed(config)
    await this.#requireSameCluster(config, 'consumer')
    const access = this.#options.accessWith(name, config)
    if (typeof named !== 'function') {
      for (const topic of named) {
        const problem = access.problem('read', topic)
        if (problem !== undefined) throw new WorkerError('records_refused', problem)
      }
      if (named.length === 0) throw new WorkerError('invalid_config', "'topics' or 'topics.regex' is not set")
    }
    const all = typeof named === 'function' ? await this.#matching(named, access, rights) : [...new Set(named)]
    const topics = all.slice(0, TOPICS_MAX)
    const left = all.length - topics.length
    const notes = [
      ...(all.length === 0 ? ['No topic that you may read matches topics.regex.'] : []),
      ...(left > 0 ? [`Only the first ${topics.length} of ${all.length} topics are read.`] : []),
    ]
    return { kind: 'sink', config, topics, notes }
  }

  async #matching(
    matches: (topic: string) => boolean,
    access: TopicAccess,
    rights: Rights,
  ): Promise<readonly string[]> {
    const all = await this.#options.broker.topics.describeAll()
    return all
      .map(({ name }) => name)
      .filter((topic) => matches(topic) && rights.allows('read', topic) && access.allows('read', topic))
      .sort()
  }

  /**
   * A source is not asked for records, because that could change the system that it reads. What it has written has passed the stored
   * transformations, so only further ones can be applied to it.
   */
  async #planSource(name: string, config: RawConfig): Promise<Plan> {
    const { connector, topicsOf, resolver, plugins } = this.#options
    const none = (reason: string): Plan => ({ kind: 'source', config, topics: [], notes: [reason] })
    const stored = connector(name)
    if (stored === undefined)
      return none(
        'There are no records yet: a source is not asked for records before it runs, because that could change the system that it reads.',
      )
    const before = await resolver.resolve(stored.config).then(
      (found) => found.config,
      (error: unknown) => {
        throw invalid(error)
      },
    )
    if (findConnector(plugins.catalog, before)?.kind !== 'source')
      return none('There are no records yet: the connector that is stored under this name is not a source.')
    const all = topicsOf(name)
    if (all.length === 0) return none('There are no records yet: the connector has not written to any topic.')
    await this.#requireSameCluster(before, 'producer')
    const topics = [...all].sort().slice(0, TOPICS_MAX)
    const { transforms, note } = addedTransforms(before, config)
    return {
      kind: 'source',
      config: { ...withConvertersOf(before, config), transforms },
      topics,
      notes: [
        'A source is not asked for records, because that could change the system that it reads. These are the last records that it has written, as its stored converters read them.',
        note,
        ...(topics.length < all.length ? [`Only the first ${topics.length} of ${all.length} topics are read.`] : []),
      ],
    }
  }

  async #requireSameCluster(config: RawConfig, kind: 'producer' | 'consumer'): Promise<void> {
    const { broker, clientDefaults } = this.#options
    const difference = await connectionDifference(
      broker,
      settingsOrError(() => clientSettings(clientDefaults, config)),
      kind,
    )
    if (difference === undefined) return
    throw new WorkerError('records_refused', `the connector has ${difference}, so its records are not shown here`)
  }

  /** The plugin in whose process the preview runs: that of the only installed module, which can load shipped plugins. */
  #hostOf(config: RawConfig): PluginName {
    const { plugins, converterDefaults } = this.#options
    const { key, value, headers, transformations } = settingsOrError(() => pipelinePlugins(config, converterDefaults))
    const named = [...transformations.flatMap((one) => [one, one.predicate]), key, value, headers]
    const found = named.flatMap((one) =>
      one === undefined ? [] : [settingsOrError(() => findDescriptor(plugins, one))],
    )
    const installed = found.filter(({ location }) => location !== undefined)
    if (new Set(installed.map(({ location }) => location)).size > 1)
      throw new WorkerError(
        'plugin_failed',
        `no preview is possible with plugins of several installed modules: ${[...new Set(installed.map((one) => one.class))].join(', ')}`,
      )
    const host = installed[0] ?? found.at(-1)
    if (host === undefined) throw new Error('a bug: a pipeline has converters')
    return host
  }

  async #sample(topics: readonly string[]) {
    const sampled: { readonly topic: string; readonly record: SampledRecord }[] = []
    const missing: string[] = []
    // One after another: few threads read records for everybody.
    for (const topic of topics) {
      const found = await this.#options.records.sample(topic, RECORDS_MAX)
      if (found === undefined) missing.push(`There is no topic '${topic}' yet.`)
      else if (found.length === 0) missing.push(`The topic '${topic}' has no records.`)
      else sampled.push(...found.map((record) => ({ topic, record })))
    }
    sampled.sort((a, b) => b.record.view.timestampMs - a.record.view.timestampMs)
    return { sampled: sampled.slice(0, RECORDS_MAX), missing }
  }

  async #process(
    { config }: Plan,
    host: PluginName,
    sampled: readonly { readonly topic: string; readonly record: SampledRecord }[],
  ): Promise<readonly PreviewedRecord[]> {
    const { plugins, converterDefaults } = this.#options
    // In the order in which they were written.
    const records = sampled
      .toReversed()
      .flatMap(({ topic, record: { stored } }) => (stored ? [{ topic, ...stored }] : []))
    const previews =
      records.length === 0
        ? []
        : await plugins.call('preview-records', host, { config, workerDefaults: converterDefaults, records })
    let next = previews.length
    return sampled.map(({ topic, record: { view, stored, problem } }) => {
      const preview = stored === undefined ? undefined : previews[--next]
      return { topic, stored: view, problem, ...(preview ?? { read: null, result: null, failure: null }) }
    })
  }

  /** A transformation can put the value of a placeholder into a record. */
  #masked<T>(value: T): T {
    if (typeof value === 'string') return this.#options.resolver.mask(value) as T
    if (Array.isArray(value)) return value.map((item) => this.#masked(item)) as T
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#masked(item)])) as T
  }
}

function findDescriptor(
  { catalog }: PluginHost,
  {
    kind,
    className,
    version,
  }: { readonly kind: PluginName['kind']; readonly className: string; readonly version: string | undefined },
): PluginName & { readonly location?: string } {
  return findPlugin(catalog, kind, className, version)
}

/** The transformations behind those that the records have passed, if all of these are kept as they are. */
function addedTransforms(before: RawConfig, config: RawConfig): { readonly transforms: string; readonly note: string } {
  const passed = configuredTransformations(before)
  const names = field.listItems(config['transforms'] ?? '')
  const isKept = isDeepStrictEqual(configuredTransformations(config).slice(0, passed.length), passed)
  const added = names.slice(passed.length)
  if (!isKept)
    return {
      transforms: '',
      note: 'No transformation is applied: the records have passed the stored ones, which this configuration changes.',
    }
  return {
    transforms: added.join(','),
    note:
      added.length === 0
        ? 'They have passed the transformations of this configuration already.'
        : passed.length === 0
          ? `The transformations are applied to them: ${added.join(', ')}.`
          : `Only the added transformations are applied: ${added.join(', ')}. They have passed the others already.`,
  }
}

const CONVERTER_KEY = /^(?:key|value|header)\.converter(?:\.|$)/

/** Records were written with the stored converters. */
function withConvertersOf(before: RawConfig, config: RawConfig): RawConfig {
  const others = Object.entries(config).filter(([key]) => !CONVERTER_KEY.test(key))
  const converters = Object.entries(before).filter(([key]) => CONVERTER_KEY.test(key))
  return Object.fromEntries([...others, ...converters])
}

function parsed(config: RawConfig) {
  return settingsOrError(() => parseTaskConfig(config))
}

function settingsOrError<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw invalid(error)
  }
}

function invalid(error: unknown): WorkerError {
  return new WorkerError('invalid_config', messageOf(error), { cause: error })
}
