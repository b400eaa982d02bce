import { shippedCatalog } from '../../../src/plugins/shipped-plugins.ts'
import { type ConnectRecord, parseConfig, type RawConfig } from '../../../src/sdk/index.ts'

const catalog = shippedCatalog()

/** A transform that ships, as configured. */
export function transformNamed(name: string, config: RawConfig): (record: ConnectRecord) => ConnectRecord | null {
  const transform = catalog.find('transformation', name)!
  return transform.create(parseConfig(transform.config, config))
}
