import type { ProtocolReader, ProtocolWriter } from '../protocol-primitives.ts'

/**
 * One API of the protocol in one version: the latest that both Kafka 3.9 and 4.x support without flexible headers,
 * unless a feature requires more.
 */
export type KafkaApi<Request, Response> = {
  readonly key: number
  readonly name: string
  readonly version: number
  readonly isFlexible?: boolean
  readonly write: (writer: ProtocolWriter, request: Request) => unknown
  readonly read: (reader: ProtocolReader) => Response
}
