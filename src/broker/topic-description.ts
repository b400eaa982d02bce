import type { BrokerErrorData } from './broker-error.ts'

export type NewTopic = {
  readonly name: string
  /** Default: the broker's own default. */
  readonly partitions?: number
  readonly replicationFactor?: number
  /** Alternative to `replicationFactor`: this many replicas, or one per node if the cluster has fewer nodes. */
  readonly replicationFactorMax?: number
  /** The setting that determines the number of replicas, which messages name. */
  readonly replicationSetting?: string
  readonly configs?: Readonly<Record<string, string>>
}
export type TopicDescription = {
  readonly name: string
  readonly internal: boolean
  readonly partitions: readonly { readonly partition: number; readonly leader: number; readonly replicas: number }[]
}

/** `error`: why the values of a topic are not known. */
export type TopicConfigValues = {
  readonly topic: string
  readonly values: Readonly<Record<string, string>>
  readonly error?: BrokerErrorData
}
