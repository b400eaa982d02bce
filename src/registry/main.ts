import { readFileSync } from 'node:fs'
import type { Broker } from '../broker/broker.ts'
import { type Running, startAll } from '../config/lifecycle.ts'
import type { Logger } from '../config/logger.ts'
import type { Metrics } from '../config/metrics.ts'
import { soleLeader } from './leader.ts'
import { registryMetrics } from './metrics.ts'
import { ParsedSchemas } from './parsed-schemas.ts'
import { Registry } from './registry.ts'
import { serveRegistry } from './server.ts'
import { type RegistrySettings, registryDefaults, topicSettings } from './settings.ts'
import { openRegistryLog } from './store/log.ts'
import { RegistryState } from './store/state.ts'

export type RegistryDependencies = { readonly broker: Broker; readonly logger: Logger; readonly metrics: Metrics }

/**
 * Starts a registry on a log. Resolves when it answers and knows everything the topic holds. The broker stays the
 * caller's.
 */
export function startRegistry(settings: RegistrySettings, dependencies: RegistryDependencies): Promise<Running> {
  const { broker, metrics } = dependencies
  const logger = dependencies.logger.child({ program: 'registry' })
  for (const warning of settings.warnings) logger.warn(warning)
  const { values } = settings
  return startAll(logger, async (life) => {
    const state = new RegistryState()
    const { observe } = registryMetrics(metrics, soleLeader.isLeader)
    const topicConfigs = topicSettings(settings)
    const log = await openRegistryLog(state, { broker, logger, settings: values, topicConfigs, observe })
    life.onStop('topic', () => log.close())
    const schemas = new ParsedSchemas({
      entriesMax: values['schema.cache.size'],
      expiryMs: values['schema.cache.expiry.ms'],
      nowMs: () => performance.now(),
    })
    const registry = new Registry({ view: state, schemas, ...registryDefaults(values) }, log, soleLeader)
    const server = await serveRegistry(registry, {
      settings: values,
      identity: { clusterId: await broker.clusterId(), version: packageVersion() },
      logger,
      metrics,
      ready: () => true,
    })
    life.onStop('http server', () => server.stop())
    for (const url of server.urls) logger.info({ url }, 'listening')
    return { url: server.urls[0] ?? '', stop: () => life.stop() }
  })
}

function packageVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
