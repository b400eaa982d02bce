import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Settings = Readonly<Record<string, string>>

/** Path of a file in the folder with the tests' certificates. */
export const store = (name: string) => join(import.meta.dirname, 'tls', name)
export const pem = (name: string) => readFileSync(store(name), 'utf8')

/** The private key and the certificate in a PEM file. */
export function keyPair(name: string): { readonly key: string; readonly certificate: string } {
  const [key = '', certificate = ''] = pem(name).split(/(?=-----BEGIN CERT)/)
  return { key, certificate }
}

/** TLS settings of a Kafka broker. */
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

/** Arguments of `kafka-storage format` that create a SCRAM user. */
export function scramUser(name: string, password: string): readonly string[] {
  return ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${name},password=${password}]`,
  ])
}

/** Settings of a client that logs in with SCRAM-SHA-512 over TLS. */
export function scramLogin(name: string, password: string): Settings {
  const module = 'org.apache.kafka.common.security.scram.ScramLoginModule'
  return {
    'security.protocol': 'SASL_SSL',
    'sasl.mechanism': 'SCRAM-SHA-512',
    'sasl.jaas.config': `${module} required username="${name}" password="${password}";`,
    'ssl.truststore.location': store('ca.pem'),
    'ssl.truststore.type': 'PEM',
  }
}

/** Settings of a broker that checks ACLs, except those of clients without a login, as brokers are, and of `superUsers`. */
export function authorizer(superUsers: readonly string[] = []): Settings {
  return {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': ['ANONYMOUS', ...superUsers].map((user) => `User:${user}`).join(';'),
  }
}

/** SASL settings of a listener. PLAIN accepts alice with her password, OAUTHBEARER accepts everyone. */
export function saslListener(name: string, mechanisms = 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER'): Settings {
  const login = (module: string) => `org.apache.kafka.common.security.${module} required`
  const prefix = `listener.name.${name}`
  return {
    [`${prefix}.sasl.enabled.mechanisms`]: mechanisms,
    [`${prefix}.plain.sasl.jaas.config`]: `${login('plain.PlainLoginModule')} user_alice="alice-secret";`,
    [`${prefix}.scram-sha-256.sasl.jaas.config`]: `${login('scram.ScramLoginModule')};`,
    [`${prefix}.scram-sha-512.sasl.jaas.config`]: `${login('scram.ScramLoginModule')};`,
    // Kafka's login module for development, which accepts unsigned tokens.
    [`${prefix}.oauthbearer.sasl.jaas.config`]: `${login('oauthbearer.OAuthBearerLoginModule')} unsecuredLoginStringClaim_sub="broker";`,
  }
}
