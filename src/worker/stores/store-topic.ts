/** Where a store keeps its records; the topic is made when it is missing. */
export type StoreTopic = {
  readonly name: string
  /** Absent: the broker's default. */
  readonly partitions?: number
  readonly replicationFactor?: number
  readonly configs?: Readonly<Record<string, string>>
}
