// What the REST APIs of Kafka Connect and Confluent Schema Registry respond with, as far as views use it.

export type InstanceStatus = { readonly state: string; readonly worker_id: string; readonly trace?: string }
export type TaskStatus = InstanceStatus & { readonly id: number }
export type ConnectorStatusInfo = {
  readonly name: string
  readonly connector: InstanceStatus
  readonly tasks: readonly TaskStatus[]
  readonly type: string
}
export type ConnectorConfig = Readonly<Record<string, string | null>>
export type Connector = { readonly name: string; readonly config: ConnectorConfig; readonly type: string }
/** `GET /connectors?expand=status&expand=info` */
export type ExpandedConnectors = Readonly<
  Record<string, { readonly info?: Connector; readonly status?: ConnectorStatusInfo }>
>

/** `GET /subjects/{subject}/versions/{version}`. Registries before 8.0 do not return `deleted` and `guid`. */
export type RegisteredVersion = {
  readonly subject: string
  readonly version: number
  readonly id: number
  readonly schema: string
  readonly schemaType?: string
  readonly references?: readonly ReferenceEntry[]
  readonly metadata?: unknown
  readonly ruleSet?: unknown
  readonly guid?: string
  readonly ts?: number
  readonly deleted?: boolean
}
export type ReferenceEntry = { readonly name: string; readonly subject: string; readonly version: number }

/** A key of `PUT /connector-plugins/{class}/config/validate`; `definition` is null for a key that nothing defines. */
export type ReportedKey = {
  readonly definition: KeyDefinition | null
  readonly value: {
    readonly name: string
    readonly value: string | null
    readonly recommended_values: readonly string[]
    readonly errors: readonly string[]
    readonly visible: boolean
  }
}
export type KeyDefinition = {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly default_value: string | null
  readonly importance: string
  readonly documentation: string
  readonly group: string | null
  readonly order_in_group: number
  readonly display_name: string
}
export type ConfigReport = { readonly error_count: number; readonly configs: readonly ReportedKey[] }
