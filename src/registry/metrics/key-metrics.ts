import { Gauge } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'
import type { KeyView } from '../dek/key-state.ts'

const TENANT = 'default'

/** Registers gauges for the number of keys in the DEK registry, including soft-deleted keys, with Confluent's names. */
export function keyMetrics(metrics: Metrics, view: KeyView): void {
  const gauges: readonly (readonly [name: string, help: string, read: () => number])[] = [
    ['num_keks', 'KEKs in the DEK registry.', () => view.kekCount],
    ['num_keks_shared', 'Shared KEKs: the registry itself may use their KMS.', () => view.sharedKekCount],
    ['num_deks', 'DEKs in the DEK registry.', () => view.dekCount],
  ]
  for (const [name, help, read] of gauges) {
    new Gauge({
      name: `kafka_schema_registry_dek_registry_${name}`,
      help,
      labelNames: ['tenant'] as const,
      registers: [metrics],
      collect() {
        this.set({ tenant: TENANT }, read())
      },
    })
  }
}
