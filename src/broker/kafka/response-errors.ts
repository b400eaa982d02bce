import type { PartitionError } from '../broker-backend.ts'
import { type AccessRight, BrokerError, formatRight, type KafkaOperation } from '../broker-error.ts'
import { kafkaError } from './kafka-error.ts'

const TOPIC_AUTHORIZATION_FAILED = 29
const GROUP_AUTHORIZATION_FAILED = 30
const CLUSTER_AUTHORIZATION_FAILED = 31
const TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53

/** The rights that the broker checks for one request, by the type of the resource. */
export type RequiredRights = {
  /** On each topic of the request. */
  readonly topic?: KafkaOperation
  readonly group?: readonly [operation: KafkaOperation, groupId: string]
  readonly transactionalId?: readonly [operation: KafkaOperation, transactionalId: string]
  readonly cluster?: KafkaOperation
}

export type ErrorPlace = {
  /** The topic that the error is about. */
  readonly topic?: string
  /** The message of the broker. */
  readonly detail?: string | null | undefined
}

/**
 * Converts the error codes in the response to one request. The code of a failed authorization tells the type of the resource only;
 * the request tells the operation and the name.
 */
export class ResponseErrors {
  readonly #rights: RequiredRights

  constructor(rights: RequiredRights) {
    this.#rights = rights
  }

  /** The group of the request. */
  get groupId(): string | undefined {
    return this.#rights.group?.[1]
  }

  /** Undefined for 0. `where` names what was attempted. */
  find(number: number, where: string, { topic, detail }: ErrorPlace = {}): PartitionError | undefined {
    if (number === 0) return undefined
    const { name, code } = kafkaError(number)
    const right = this.#missing(number, topic)
    const reason = right ? `the client needs ${formatRight(right)}` : detail
    return { code, message: reason ? `${where}: ${name}: ${reason}` : `${where}: ${name}`, ...(right && { right }) }
  }

  /** Throws if the code is an error. */
  check(number: number, where: string, place?: ErrorPlace): void {
    const error = this.find(number, where, place)
    if (error) throw BrokerError.of(error)
  }

  #missing(number: number, topic: string | undefined): AccessRight | undefined {
    const rights = this.#rights
    switch (number) {
      case TOPIC_AUTHORIZATION_FAILED:
        return rights.topic && { operation: rights.topic, resourceType: 'topic', resourceName: topic }
      case GROUP_AUTHORIZATION_FAILED:
        return rights.group && { operation: rights.group[0], resourceType: 'group', resourceName: rights.group[1] }
      case TRANSACTIONAL_ID_AUTHORIZATION_FAILED: {
        const { transactionalId } = rights
        return (
          transactionalId && {
            operation: transactionalId[0],
            resourceType: 'transactional id',
            resourceName: transactionalId[1],
          }
        )
      }
      case CLUSTER_AUTHORIZATION_FAILED:
        return rights.cluster && { operation: rights.cluster, resourceType: 'cluster' }
      default:
        return undefined
    }
  }
}
