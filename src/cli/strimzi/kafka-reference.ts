import type { Logger } from '../../common/logging/logger.ts'
import type { Setting } from '../../config/settings.ts'
import type { BrokerFlags } from '../broker-flags.ts'
import { type ExitCode, UsageError } from '../command.ts'
import type { FollowedKafka, KafkaReference, ObjectName } from './follow-strimzi-kafka.ts'

export type KafkaReferenceFlags = BrokerFlags & {
  readonly 'kafka-ref'?: string | undefined
  readonly 'kafka-user-ref'?: string | undefined
  readonly 'kafka-listener'?: string | undefined
  readonly kubeconfig?: string | undefined
}

/** Options that name resources of Strimzi instead of brokers. */
export const KAFKA_REFERENCE_OPTIONS = {
  'kafka-ref': { type: 'string' },
  'kafka-user-ref': { type: 'string' },
  'kafka-listener': { type: 'string' },
} as const

export const KAFKA_REFERENCE_HELP = `  --kafka-ref NAMESPACE/NAME        Strimzi's Kafka to connect to, instead of --bootstrap
  --kafka-user-ref NAMESPACE/NAME   the KafkaUser whose certificate or password is used, and followed when Strimzi renews it
  --kafka-listener NAME             the listener; default: the internal one with the authentication of the user`

/** The Kafka of the options, with the settings of its clients; other settings override them. */
export type ReferencedKafka = { readonly bootstrap: string; readonly settings: readonly Setting[] }

/**
 * Calls `run` with the Kafka that the options name, and follows its Secrets until `run` resolves. Without such options it is called with
 * undefined. Throws a `UsageError` for invalid options.
 */
export async function withReferencedKafka(
  flags: KafkaReferenceFlags,
  logger: Logger,
  run: (kafka: ReferencedKafka | undefined) => Promise<ExitCode>,
): Promise<ExitCode> {
  const reference = parseReference(flags)
  if (reference === undefined) return run(undefined)
  // Loaded on demand: the Kubernetes client takes half a second and 80 MB.
  const { followStrimziKafka } = await import('./follow-strimzi-kafka.ts')
  const kafka: FollowedKafka = await followStrimziKafka(reference, { logger, kubeconfig: flags.kubeconfig })
  try {
    const settings = Object.entries(kafka.settings)
    return await run({
      bootstrap: kafka.bootstrap,
      settings: settings.map(([key, value]) => ({ key, value, source: '--kafka-ref' })),
    })
  } finally {
    await kafka.close()
  }
}

function parseReference(flags: KafkaReferenceFlags): KafkaReference | undefined {
  const { 'kafka-ref': kafka, 'kafka-user-ref': user, 'kafka-listener': listener } = flags
  if (kafka === undefined) {
    if (user === undefined && listener === undefined) return undefined
    throw new UsageError(
      '--kafka-user-ref and --kafka-listener need --kafka-ref NAMESPACE/NAME, the Kafka that they belong to',
    )
  }
  if (flags.bootstrap !== undefined || flags.data !== undefined)
    throw new UsageError('--kafka-ref excludes --bootstrap and --data: give one of them')
  const name = parseName('--kafka-ref', kafka)
  return { kafka: name, user: user === undefined ? undefined : parseName('--kafka-user-ref', user), listener }
}

function parseName(option: string, text: string): ObjectName {
  const [, namespace, name] = /^(?:([a-z0-9-]+)\/)?([a-z0-9.-]+)$/.exec(text) ?? []
  if (name !== undefined) return { namespace, name }
  throw new UsageError(
    `${option} ${text}: expected NAMESPACE/NAME, or NAME in the namespace of the pod or the kubeconfig`,
  )
}
