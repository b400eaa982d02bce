/** Confluent's prefix, and the prefix of the interface documents in `seeds/`. */
export const PREFIXES = ['kafka_schema_registry', 'broker_schema_registry'] as const
export const [CONFLUENT_PREFIX] = PREFIXES

/** The metric name of an MBean whose only attribute has the same name as the MBean. */
export function mbeanMetric(name: string): string {
  return `${CONFLUENT_PREFIX}_${name}_${name}`
}
