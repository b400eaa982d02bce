import { Gauge } from 'prom-client'
import type { Metrics } from '../../common/metrics-registry.ts'
import type { CertificateExpiry } from '../../tls/certificate-expiry.ts'
import { mbeanMetric } from './metric-names.ts'

/** Registers the expiry of the listener certificates. The returned function sets it. */
export function certificateMetrics(metrics: Metrics): (expiry: CertificateExpiry) => void {
  const keystore = expiryGauge(metrics, 'keystore')
  const truststore = expiryGauge(metrics, 'truststore')
  return ({ keystoreMs, truststoreMs }) => {
    keystore.set(keystoreMs ?? 0)
    truststore.set(truststoreMs ?? 0)
  }
}

function expiryGauge(metrics: Metrics, store: 'keystore' | 'truststore'): Gauge {
  const help = `Time at which the first certificate in the ${store} expires, in ms since 1970; 0 without a certificate.`
  return new Gauge({ name: mbeanMetric(`certificate_expiration_${store}`), help, registers: [metrics] })
}
