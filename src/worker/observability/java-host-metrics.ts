import { Counter } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'

/** Reports at each scrape how many JVMs of Java plugins have ended although plugins used them. */
export function registerJavaHostMetrics(metrics: Metrics, read: () => number): void {
  new Counter({
    name: 'weir_java_host_exits_total',
    help: 'JVMs of Java plugins that ended although plugins used them.',
    registers: [metrics],
    collect() {
      this.reset()
      this.inc(read())
    },
  })
}
