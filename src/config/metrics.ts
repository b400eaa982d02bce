import { Registry } from 'prom-client'

/** The process's metric families; each program adds its own. `/metrics` prints them. */
export type Metrics = Registry

export function createMetrics(): Metrics {
  return new Registry()
}
