import type { CompatibilityLevel, Mode, NewSchema } from '../../clients/registry-client.ts'
import type { ConnectorProperties, RequestedState } from '../../clients/worker-client.ts'

/** One write that applying a resource sends to a runtime. `scope`: a subject or `:.context:`; absent: the registry. */
export type RuntimeChange =
  | {
      readonly do: 'register'
      readonly subject: string
      /** The version that the schema gets. */
      readonly version: number
      readonly schema: NewSchema
    }
  | { readonly do: 'set-level'; readonly scope?: string; readonly level: CompatibilityLevel }
  | { readonly do: 'delete-level'; readonly scope?: string }
  | { readonly do: 'set-mode'; readonly scope?: string; readonly mode: Mode }
  | { readonly do: 'delete-mode'; readonly scope?: string }
  | { readonly do: 'delete-subject'; readonly subject: string; readonly permanent: boolean }
  | {
      readonly do: 'create-connector'
      readonly connector: string
      readonly config: ConnectorProperties
      readonly state: RequestedState
    }
  | {
      readonly do: 'update-connector'
      readonly connector: string
      readonly before: ConnectorProperties
      readonly after: ConnectorProperties
    }
  | { readonly do: 'set-state'; readonly connector: string; readonly state: RequestedState }
  | { readonly do: 'restart-connector'; readonly connector: string }
  | { readonly do: 'alter-offsets' | 'reset-offsets'; readonly connector: string }
  | { readonly do: 'delete-connector'; readonly connector: string }

export type RecordChange = (change: RuntimeChange) => void
