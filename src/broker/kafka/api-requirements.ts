import { BrokerError } from '../broker-error.ts'
import * as admin from './admin-apis.ts'
import * as group from './group-apis.ts'
import * as identity from './identity-apis.ts'
import type { KafkaApi } from './kafka-api.ts'
import * as log from './produce-fetch-apis.ts'
import * as transaction from './transaction-apis.ts'

type Api = Pick<KafkaApi<never, unknown>, 'key' | 'name' | 'version' | 'earlierVersion'>

/** What Weir needs of a broker. `without`: what a broker that lacks them makes impossible; undefined: Weir cannot work. */
type ApiRequirement = { readonly apis: readonly Api[]; readonly without?: string }

export const API_REQUIREMENTS: readonly ApiRequirement[] = [
  {
    apis: [
      log.metadataApi,
      log.produceApi,
      log.fetchApi,
      log.listOffsetsApi,
      transaction.initProducerIdApi,
      admin.describeConfigsApi,
      group.findCoordinatorApi,
      group.joinGroupApi,
      group.syncGroupApi,
      group.heartbeatApi,
      group.leaveGroupApi,
      group.offsetCommitApi,
      group.offsetFetchApi,
    ],
  },
  {
    apis: [admin.createTopicsApi],
    without: 'topics are not created: the topics of the registry, of workers and of connectors must exist',
  },
  {
    apis: [admin.deleteTopicsApi, admin.createPartitionsApi, admin.incrementalAlterConfigsApi],
    without: 'topics are not deleted, extended or reconfigured',
  },
  {
    apis: [
      transaction.addPartitionsToTxnApi,
      transaction.addOffsetsToTxnApi,
      transaction.txnOffsetCommitApi,
      transaction.endTxnApi,
    ],
    without: 'transactions fail: exactly-once delivery is not possible',
  },
  {
    apis: [group.listGroupsApi, group.describeGroupsApi, group.deleteGroupsApi, group.offsetDeleteApi],
    without: 'the offsets of sink connectors are neither reset nor altered',
  },
  {
    apis: [admin.describeLogDirsApi],
    without: 'the console does not show the sizes of topics',
  },
  {
    apis: [identity.topicIdApi],
    without: 'a topic that was deleted and created again is recognized by its offsets only',
  },
  {
    apis: [identity.describeTransactionsApi],
    without: 'whether an instance of the registry has been leader before is not checked',
  },
]

/** The latest version of the API that both sides have; undefined if there is none. */
export function usableVersion({ key, ...api }: Api, versions: identity.ApiVersions): number | undefined {
  const range = versions.get(key)
  return range && neededVersions(api).find((version) => range.min <= version && version <= range.max)
}

/** `Produce has versions 0 to 6, but Weir needs 8 or 7`. */
export function describeMissing({ name, key, ...api }: Api, versions: identity.ApiVersions): string {
  const range = versions.get(key)
  const offered = range === undefined ? 'is not available' : `has versions ${range.min} to ${range.max}`
  return `${name} ${offered}, but Weir needs ${neededVersions(api).join(' or ')}`
}

/** The latest first. */
export function neededVersions({ version, earlierVersion }: Omit<Api, 'key' | 'name'>): readonly number[] {
  return earlierVersion === undefined ? [version] : [version, earlierVersion]
}

export type Degradation = { readonly without: string; readonly message: string }

/** Throws when Weir cannot work with a broker. Returns what is not possible with it. */
export function checkVersions(broker: string, versions: identity.ApiVersions): readonly Degradation[] {
  return API_REQUIREMENTS.flatMap(({ apis, without }) => {
    const missing = apis.filter((api) => usableVersion(api, versions) === undefined)
    if (missing.length === 0) return []
    const reasons = missing.map((api) => describeMissing(api, versions)).join('; ')
    if (without !== undefined) return [{ without, message: `with the broker ${broker}, ${without} (${reasons})` }]
    throw new BrokerError(
      'unsupported',
      `Weir cannot work with the broker ${broker}: ${reasons}. docs/kafka.md lists the supported versions of Kafka`,
    )
  })
}
