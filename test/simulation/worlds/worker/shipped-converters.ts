import type { Plugin } from '../../../../src/sdk/index.ts'
import { SHIPPED } from '../../../support/shipped-plugins.ts'

const USED = [
  'org.apache.kafka.connect.storage.StringConverter',
  'org.apache.kafka.connect.storage.SimpleHeaderConverter',
]

export function shippedConverters(): readonly Plugin[] {
  return SHIPPED.filter((plugin) => USED.some((name) => plugin.class === name || plugin.aliases?.includes(name)))
}
