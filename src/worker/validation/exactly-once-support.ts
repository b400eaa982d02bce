import { messageOf } from '../../common/errors.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ConnectorPlugin } from '../configuration/connector-plugin.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { ExactlyOnceFeature, PluginHost, PluginOutput } from '../plugin-host.ts'
import { type ConfigEntry, withError } from './config-entry.ts'

type Context = { readonly plugins: PluginHost; readonly exactlyOnceSources: boolean }

/** A value that needs a feature of the source, and the messages of Kafka Connect when the source does not have it. */
type Requirement = {
  readonly key: string
  readonly value: string
  readonly feature: ExactlyOnceFeature
  readonly unsupported: string
  /** The source does not say whether it has the feature. */
  readonly unknown: string
}

const REQUIREMENTS: readonly Requirement[] = [
  {
    key: 'exactly.once.support',
    value: 'required',
    feature: 'delivery',
    unsupported: 'The connector does not support exactly-once semantics with the provided configuration.',
    unknown:
      'The connector does not implement the API required for preflight validation of exactly-once source support. ' +
      'Please consult the documentation for the connector to determine whether it supports exactly-once semantics, and ' +
      'then consider reconfiguring the connector to use the value "requested" for this property (which will disable ' +
      'this preflight check and allow the connector to be created).',
  },
  {
    key: 'transaction.boundary',
    value: 'connector',
    feature: 'transaction-boundaries',
    unsupported:
      'The connector does not support connector-defined transaction boundaries with the given configuration. ' +
      'Please reconfigure it to use a different transaction boundary definition.',
    unknown:
      'This connector has returned a null value from its canDefineTransactionBoundaries method, which is not ' +
      'permitted. The connector will be treated as if it cannot define its own transaction boundaries, and cannot be ' +
      "configured with 'transaction.boundary' set to 'connector'.",
  },
]

/** Adds the errors of the keys that need a worker or a source with support for exactly-once delivery. */
export async function checkExactlyOnce(
  entries: readonly ConfigEntry[],
  config: RawConfig,
  plugin: ConnectorPlugin,
  { plugins, exactlyOnceSources }: Context,
): Promise<readonly ConfigEntry[]> {
  const checked = entries.map(async (entry) => {
    const { name, errors } = entry.value
    const requirement = REQUIREMENTS.find(({ key }) => key === name)
    if (requirement === undefined || errors.length > 0 || !isRequired(requirement, config)) return entry
    const isDisabled = requirement.feature === 'delivery' && !exactlyOnceSources
    const able = isDisabled ? withError(entry, 'This worker does not have exactly-once source support enabled.') : entry
    const problem = await problemOf(requirement, config, plugin, plugins)
    return problem === undefined ? able : withError(able, problem)
  })
  return Promise.all(checked)
}

function isRequired({ key, value }: Requirement, config: RawConfig): boolean {
  return trimAsJava(config[key] ?? '').toLowerCase() === value
}

async function problemOf(
  { feature, unsupported, unknown }: Requirement,
  config: RawConfig,
  plugin: ConnectorPlugin,
  plugins: PluginHost,
): Promise<string | undefined> {
  let support: PluginOutput<'exactly-once-support'>
  try {
    support = await plugins.call('exactly-once-support', plugin, { config, feature })
  } catch (error) {
    if (!(error instanceof WorkerError) || error.code !== 'plugin_failed') throw error
    return `An unexpected error occurred during validation: ${messageOf(error)}`
  }
  if (support === 'supported') return undefined
  return support === null ? unknown : unsupported
}
