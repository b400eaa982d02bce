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
