import type { ProtocolReader, ProtocolWriter } from '../protocol-primitives.ts'
import type { RequiredRights, ResponseErrors } from './response-errors.ts'

/**
 * One API of the protocol in one version: the latest that both the oldest and the newest supported Kafka have without
 * flexible headers, unless a feature requires more. `api-requirements.ts` lists all.
 */
export type KafkaApi<Request, Response> = {
  readonly key: number
  readonly name: string
  readonly version: number
  /** The version for servers without `version`, such as Azure Event Hubs. Reader and writer get the one that is used. */
  readonly earlierVersion?: number
  readonly isFlexible?: boolean
  /** Only ApiVersions: the header of its response has no tags, because the client may not know yet what the broker supports. */
  readonly hasFixedResponseHeader?: boolean
  /** Part of each API, so that every `not_authorized` names the missing right. */
  readonly rights: (request: Request) => RequiredRights
  /** The same API in a later version, which is used at servers that have it. */
  readonly newer?: KafkaApi<Request, Response>
  readonly write: (writer: ProtocolWriter, request: Request, version: number) => unknown
  readonly read: (reader: ProtocolReader, errors: ResponseErrors, version: number) => Response
}
