import type {
  ConfigInfos,
  ConnectorInfo,
  ConnectorOffset,
  ConnectorStateInfo,
  ExpandedConnector,
  TaskId,
  TaskStateInfo,
} from '../../clients/worker-client.ts'
import { messageOf } from '../../common/errors.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ConfigResolver } from '../configuration/config-resolver.ts'
import {
  type ConfigView,
  maskMessage,
  rejectMasks,
  restoreMaskedSecrets,
  toMaskedConfig,
} from '../configuration/masked-config.ts'
import { type WrittenConfig, withoutNulls } from '../configuration/written-config.ts'
import { inJavaOrder, javaOrder } from '../model/java-order.ts'
import { taskKey } from '../model/task-key.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { ConnectorOffsets } from '../offsets/connector-offsets.ts'
import type { PluginCatalog, PluginHost } from '../plugin-host.ts'
import type { StoredTargetState } from '../stores/config-codec.ts'
import type { ConnectorState } from '../stores/config-state.ts'
import type { ConfigStore } from '../stores/config-store.ts'
import type { StatusStore } from '../stores/status-store.ts'
import { type Validate, validateResolved, validateUnresolved } from '../validation/placeholder-validation.ts'
import { checkStorageLimits } from '../validation/storage-limits.ts'
import { messagesOf, type ValidationContext, validateConnector } from '../validation/validate-connector.ts'
import { connectorTypeOf, toConnectorInfo, toConnectorStatus, toTaskStatus } from './connector-info.ts'
import type { LeaderDuties } from './leader-duties.ts'
import { planRestart, type RestartRequest } from './restart-plan.ts'
import type { WorkReconciler } from './work-reconciler.ts'

export type HerderOptions = {
  readonly plugins: PluginHost
  readonly configs: ConfigStore
  readonly statuses: StatusStore
  readonly reconciler: WorkReconciler
  readonly leader: Pick<LeaderDuties, 'assertLeader'>
  readonly offsets: ConnectorOffsets
  readonly validation: ValidationContext
  readonly resolver: ConfigResolver
  readonly topicTracking: { readonly enabled: boolean; readonly resettable: boolean }
}

/** Performs the operations of the REST API on connectors. Every method may throw a `WorkerError`. */
export class Herder {
  readonly #services: HerderOptions

  constructor(services: HerderOptions) {
    this.#services = services
  }

  get plugins(): PluginCatalog {
    return this.#services.plugins.catalog
  }

  get validation(): ValidationContext {
    return this.#services.validation
  }

  names(): readonly string[] {
    return javaOrder(this.#services.configs.state.connectors().map(({ name }) => name))
  }

  /** A connector without a status is omitted when statuses are requested. */
  expanded(
    what: { readonly info: boolean; readonly status: boolean },
    viewOf: (name: string) => ConfigView,
  ): Record<string, ExpandedConnector> {
    const expanded = this.names().flatMap((name) => {
      const connector = this.#require(name)
      const status = what.status ? this.#status(connector) : undefined
      if (what.status && status === undefined) return []
      const info = what.info ? this.#info(connector, viewOf(name)) : undefined
      return [[name, { ...(status && { status }), ...(info && { info }) }] as const]
    })
    return Object.fromEntries(expanded)
  }

  info(name: string, view: ConfigView): ConnectorInfo {
    return this.#info(this.#require(name), view)
  }

  config(name: string, view: ConfigView): RawConfig {
    return this.#toView(this.#require(name).config, view)
  }

  tasks(name: string, view: ConfigView): readonly { readonly id: TaskId; readonly config: RawConfig }[] {
    return this.#require(name).tasks.map((config, task) => ({
      id: { connector: name, task },
      config: this.#toView(config, view),
    }))
  }

  status(name: string): ConnectorStateInfo {
    const connector = this.#services.configs.state.connector(name)
    const status = toConnectorStatus(
      name,
      this.#services.statuses.state,
      connectorTypeOf(connector?.config, this.plugins),
    )
    if (status) return status
    throw new WorkerError('status_not_found', `No status found for connector ${name}`)
  }

  taskStatus(id: TaskId): TaskStateInfo {
    const status = this.#services.statuses.state.task(id.connector, id.task)
    if (status) return toTaskStatus([id.task, status])
    throw new WorkerError('status_not_found', `No status found for task ${taskKey(id)}`)
  }

  topics(name: string): readonly string[] {
    this.#require(name)
    return this.#services.statuses.state.topics(name)
  }

  async resetTopics(name: string): Promise<void> {
    const { statuses, topicTracking } = this.#services
    if (!topicTracking.resettable) throw new WorkerError('reset_disabled', 'Topic tracking reset is disabled.')
    await Promise.all(this.topics(name).map((topic) => statuses.delete({ kind: 'topic', connector: name, topic })))
  }

  /** Returns the stored connector, which starts afterwards. */
  async create(
    name: string,
    config: WrittenConfig,
    view: ConfigView,
    target?: StoredTargetState,
  ): Promise<ConnectorInfo> {
    const validated = await this.#validateOrThrow(name, named(name, config))
    return this.#services.configs.changes.inTurn(name, async () => {
      if (this.#services.configs.state.connector(name)) {
        throw new WorkerError('connector_exists', `Connector ${name} already exists`)
      }
      await this.#putConnector(name, validated, target)
      return this.#stored(name, validated, view)
    })
  }

  async putConfig(
    name: string,
    config: WrittenConfig,
    view: ConfigView,
  ): Promise<{ readonly created: boolean; readonly info: ConnectorInfo }> {
    const written = named(name, config)
    await this.#validateOrThrow(name, written)
    return this.#services.configs.changes.inTurn(name, async () => {
      // Its masks stand for the secrets that are stored now: another change may have stored new ones during the validation.
      const validated = this.#unmasked(name, written)
      const created = this.#services.configs.state.connector(name) === undefined
      await this.#putConnector(name, validated)
      return { created, info: this.#stored(name, validated, view) }
    })
  }

  /** A null in `patch` removes the key. */
  async patchConfig(name: string, patch: WrittenConfig, view: ConfigView): Promise<ConnectorInfo> {
    return this.#services.configs.changes.inTurn(name, async () => {
      const merged = Object.entries({ ...this.#require(name).config, ...patch })
      const config = inJavaOrder(Object.fromEntries(merged.filter(([key]) => patch[key] !== null)))
      // As in Kafka Connect, a patch may change the key `name`; the resource keeps its name.
      const validated = await this.#validateOrThrow(name, config)
      await this.#putConnector(name, validated)
      return this.#stored(name, validated, view)
    })
  }

  async delete(name: string): Promise<void> {
    await this.#services.configs.changes.inTurn(name, async () => {
      this.#services.leader.assertLeader()
      this.#require(name)
      await this.#services.configs.deleteConnector(name)
    })
  }

  async setTarget(name: string, target: StoredTargetState): Promise<void> {
    const { configs, leader } = this.#services
    await configs.changes.inTurn(name, async () => {
      // Any worker pauses and resumes.
      if (target === 'STOPPED') leader.assertLeader()
      if (!configs.state.connector(name)) throw new WorkerError('connector_not_found', `Unknown connector ${name}`)
      if (target === 'STOPPED') await configs.putTasks(name, [])
      await configs.putTarget(name, target)
    })
  }

  /** Without a flag, restarts only the connector. With a flag, returns immediately with the states that the restart sets. */
  async restart(
    name: string,
    { includeTasks, onlyFailed }: { readonly includeTasks: boolean; readonly onlyFailed: boolean },
  ): Promise<ConnectorStateInfo | undefined> {
    const { configs, reconciler, statuses } = this.#services
    if (!includeTasks && !onlyFailed) {
      await reconciler.restartConnector(name)
      return undefined
    }
    const connector = configs.state.connector(name)
    const status = connector && toConnectorStatus(name, statuses.state, connectorTypeOf(connector.config, this.plugins))
    if (!status) throw new WorkerError('connector_not_found', `Unknown connector: ${name}`)
    const request: RestartRequest = { kind: 'restart', connector: name, includeTasks, onlyFailed }
    const plan = planRestart(statuses.state, request)
    await configs.write([request])
    return {
      ...status,
      connector: plan.connector ? { ...status.connector, state: 'RESTARTING' } : status.connector,
      tasks: status.tasks.map((task) => (plan.tasks.includes(task.id) ? { ...task, state: 'RESTARTING' } : task)),
    }
  }

  restartTask(id: TaskId): Promise<void> {
    return this.#services.reconciler.restartTask(id)
  }

  async offsets(name: string): Promise<readonly ConnectorOffset[]> {
    return this.#services.offsets.list(this.#require(name))
  }

  async alterOffsets(name: string, offsets: readonly ConnectorOffset[]): Promise<string> {
    return this.#services.configs.changes.inTurn(name, async () =>
      this.#services.offsets.alter(this.#require(name), offsets),
    )
  }

  async resetOffsets(name: string): Promise<string> {
    return this.#services.configs.changes.inTurn(name, async () => this.#services.offsets.reset(this.#require(name)))
  }

  /**
   * Resolves placeholders only for users who may create connectors, and never returns their values. For other users, values
   * with placeholders are accepted without validation.
   */
  async validate(written: WrittenConfig, { resolves }: { readonly resolves: boolean }): Promise<ConfigInfos> {
    if (!resolves) return validateUnresolved(written, this.#validateWritten)
    const { config, unknown } = this.#withStoredSecrets(written['name'] ?? '', written)
    const validation = await this.#validateResolved(written, config)
    const configs = validation.configs.map((entry) => {
      const { name, errors } = entry.value
      return unknown.includes(name)
        ? { ...entry, value: { ...entry.value, errors: [...errors, maskMessage(name)] } }
        : entry
    })
    const added = configs.filter(({ value }) => unknown.includes(value.name)).length
    return { ...validation, configs, error_count: validation.error_count + added }
  }

  readonly #validateWritten: Validate = (config, options) =>
    validateConnector(config, this.#services.validation, options)

  /** `unmaskedConfig` is the written configuration with stored secrets in place of their masks. */
  async #validateResolved(written: WrittenConfig, unmaskedConfig: WrittenConfig): Promise<ConfigInfos> {
    const resolved = await this.#services.resolver.resolve(withoutNulls(unmaskedConfig)).catch((error: unknown) => {
      throw new WorkerError('invalid_config', messageOf(error), { cause: error })
    })
    const restored = Object.entries(withoutNulls(unmaskedConfig)).filter(([key, value]) => written[key] !== value)
    const placeholderValues = new Map([...resolved.placeholderValues, ...restored])
    return validateResolved(written, { ...resolved, placeholderValues }, this.#validateWritten)
  }

  #withStoredSecrets(name: string, written: WrittenConfig) {
    return restoreMaskedSecrets(written, this.#services.configs.state.connector(name)?.config, this.plugins)
  }

  /** The validation before it may have taken longer than this worker was the leader: the next leader decides on what it has read. */
  async #putConnector(name: string, config: RawConfig, target?: StoredTargetState): Promise<void> {
    this.#services.leader.assertLeader()
    await this.#services.configs.putConnector(name, config, target)
  }

  /** Throws a `WorkerError` if a mask stands for no stored secret. */
  #unmasked(name: string, written: WrittenConfig): RawConfig {
    const { config, unknown } = this.#withStoredSecrets(name, written)
    rejectMasks(unknown)
    return config as RawConfig
  }

  async #validateOrThrow(name: string, written: WrittenConfig): Promise<RawConfig> {
    checkStorageLimits(name, withoutNulls(written))
    const config = this.#unmasked(name, written)
    const validation = await this.#validateResolved(written, config)
    const messages = messagesOf(validation)
    if (messages.length === 0) return config
    throw new WorkerError(
      'invalid_config',
      `Connector configuration is invalid and contains the following ${validation.error_count} error(s):\n` +
        `${messages.join('\n')}\n` +
        'You can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`',
    )
  }

  /** The keys are in the order in which the client wrote them. */
  #stored(name: string, stored: RawConfig, view: ConfigView): ConnectorInfo {
    const connector = this.#services.configs.state.connector(name)
    const config = this.#toView(stored, view)
    return connector
      ? { ...toConnectorInfo(connector, this.plugins), config }
      : { name, config, tasks: [], type: 'unknown' }
  }

  #info(connector: ConnectorState, view: ConfigView): ConnectorInfo {
    return { ...toConnectorInfo(connector, this.plugins), config: this.#toView(connector.config, view) }
  }

  #toView(config: RawConfig, view: ConfigView): RawConfig {
    return view === 'masked' ? toMaskedConfig(config, this.plugins) : config
  }

  #status(connector: ConnectorState): ConnectorStateInfo | undefined {
    return toConnectorStatus(
      connector.name,
      this.#services.statuses.state,
      connectorTypeOf(connector.config, this.plugins),
    )
  }

  #require(name: string): ConnectorState {
    const connector = this.#services.configs.state.connector(name)
    if (connector) return connector
    throw new WorkerError('connector_not_found', `Connector ${name} not found`)
  }
}

/** The configuration with the name of the URL, which it may repeat. */
function named(name: string, written: WrittenConfig): WrittenConfig {
  if (written['name'] !== undefined && written['name'] !== name) {
    throw new WorkerError(
      'invalid_config',
      `Connector name configuration (${written['name']}) doesn't match connector name in the URL (${name})`,
    )
  }
  return { ...written, name }
}
