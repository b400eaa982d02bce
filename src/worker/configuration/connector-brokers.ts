import { isDeepStrictEqual } from 'node:util'
import type { Broker } from '../../broker/broker.ts'
import type { BrokerAddress } from '../../broker/broker-address.ts'
import type { ClientKind } from '../../broker/client-settings.ts'
import { openBroker } from '../../broker/open-broker.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { HostAccess, RawConfig } from '../../sdk/index.ts'
import { clientAccess } from '../host-access/host-access.ts'
import { clientSettings } from './client-settings.ts'
import type { ConfigResolver } from './config-resolver.ts'

export type ConnectorBrokersOptions = {
  readonly broker: Broker
  /** The settings of the worker for the clients of all connectors. */
  readonly clients: RawConfig
  readonly resolver: Pick<ConfigResolver, 'resolve'>
  readonly access: HostAccess
  readonly logger: Logger
}

/** Opens the Kafka clients with which a worker acts for a connector, as those of its tasks: with the login that it overrides. */
export class ConnectorBrokers {
  readonly #options: ConnectorBrokersOptions

  constructor(options: ConnectorBrokersOptions) {
    this.#options = options
  }

  /** Calls `action` with the broker of the worker, or with one for this call if the connector overrides its connection. */
  async run<Result>(kind: ClientKind, config: RawConfig, action: (broker: Broker) => Promise<Result>): Promise<Result> {
    const { broker, clients, resolver, access, logger } = this.#options
    const settings = clientSettings(clients, (await resolver.resolve(config)).config)
    const keys = { connection: settings.connection(kind), overrides: settings.overrides(kind) }
    if (Object.keys(keys.connection).length === 0) return action(broker)
    const address = await broker.address()
    if (address.kind === 'thread') address.port.close()
    const own = await openConnectorBroker(address, keys, { access, logger })
    if (own === undefined) return action(broker)
    try {
      return await action(own)
    } finally {
      await own.close()
    }
  }
}

/**
 * Opens a broker at the worker's address with the connection settings of a connector's client; `overrides` are those that the connector
 * configures. Undefined if they are those of the worker, or if it is an embedded broker, which has a single connection.
 */
export async function openConnectorBroker(
  address: BrokerAddress,
  { connection, overrides }: { readonly connection: RawConfig; readonly overrides: RawConfig },
  { access, logger }: Pick<ConnectorBrokersOptions, 'access' | 'logger'>,
): Promise<Broker | undefined> {
  if (address.kind !== 'kafka') return undefined
  const config = { ...address.config, ...connection }
  if (isDeepStrictEqual(config, address.config)) return undefined
  return openBroker({ kind: 'kafka', config }, { logger, access: clientAccess(access, overrides) })
}
