/** The topic of a store; it is created when it is missing. */
export type StoreTopic = {
  readonly name: string
  /** Default: the broker's default. */
  readonly partitions?: number
  readonly replicationFactor?: number
  readonly configs?: Readonly<Record<string, string>>
}
