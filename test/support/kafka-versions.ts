import type { KafkaVersion } from '../env/kafka.ts'
import { KAFKA_VERSIONS } from '../env/kafka.ts'

/** The part of `test/env` that provides each version. */
const PARTS = {
  '4.4.0': 'kafka44',
  '4.3.1': 'kafka',
  '4.1.2': 'kafka41',
  '4.0.2': 'kafka40',
  '3.9.2': 'kafka3',
  '3.3.2': 'kafka33',
} as const satisfies Record<KafkaVersion, string>

/** With `npm run versions`, a test runs on all supported versions of Kafka, else on these. */
export function kafkaVersions(usual: readonly KafkaVersion[]) {
  const versions = process.env['WEIR_KAFKA_VERSIONS'] === 'all' ? KAFKA_VERSIONS : usual
  return versions.map((version) => ({ version, part: PARTS[version] }))
}
