import { type ConnectRecord, parseConfig, type RawConfig } from '../../../src/sdk/index.ts'
import { shippedCatalog } from '../../support/shipped-plugins.ts'

const catalog = shippedCatalog()

/** A transform that ships, as configured. */
export function transformNamed(name: string, config: RawConfig): (record: ConnectRecord) => ConnectRecord | null {
  const transform = catalog.find('transformation', name)!
  return transform.create(parseConfig(transform.config, config))
}
