import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Settings = Readonly<Record<string, string>>

/** A file of the tests' certificates. */
export const store = (name: string) => join(import.meta.dirname, 'tls', name)
export const pem = (name: string) => readFileSync(store(name), 'utf8')

/** A private key and the certificate behind it. */
export function keyPair(name: string): { readonly key: string; readonly certificate: string } {
  const [key = '', certificate = ''] = pem(name).split(/(?=-----BEGIN CERT)/)
  return { key, certificate }
}

/** With what a broker's listeners speak TLS. */
export function brokerTls(): Settings {
  const { key, certificate } = keyPair('server.pem')
  return {
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.key': key,
    'ssl.keystore.certificate.chain': certificate,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.certificates': pem('ca.pem'),
  }
}

/** What `kafka-storage format` takes for a user that logs in by SCRAM. */
export function scramUser(name: string, password: string): readonly string[] {
  return ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${name},password=${password}]`,
  ])
}

/** Lets users log in at a listener: by PLAIN alice with her secret, by OAUTHBEARER everybody. */
export function saslListener(name: string, mechanisms = 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER'): Settings {
  const login = (module: string) => `org.apache.kafka.common.security.${module} required`
  const prefix = `listener.name.${name}`
  return {
    [`${prefix}.sasl.enabled.mechanisms`]: mechanisms,
    [`${prefix}.plain.sasl.jaas.config`]: `${login('plain.PlainLoginModule')} user_alice="alice-secret";`,
    [`${prefix}.scram-sha-256.sasl.jaas.config`]: `${login('scram.ScramLoginModule')};`,
    [`${prefix}.scram-sha-512.sasl.jaas.config`]: `${login('scram.ScramLoginModule')};`,
    // Kafka's own development login: it takes tokens that nobody signed.
    [`${prefix}.oauthbearer.sasl.jaas.config`]: `${login('oauthbearer.OAuthBearerLoginModule')} unsecuredLoginStringClaim_sub="broker";`,
  }
}
