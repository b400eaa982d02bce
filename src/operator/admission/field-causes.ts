import type { ConditionReason } from '../resources/condition.ts'
import type { Resource } from '../resources/resource.ts'

/** A field of a refused object and what is wrong with it: `status.details.causes` of the API server's answer. */
export type FieldCause = { readonly field: string; readonly message: string }

/** Keys of a connector's configuration that are declared by fields of their own. */
const CONNECTOR_FIELDS: Readonly<Record<string, string>> = {
  name: 'spec.name',
  'connector.class': 'spec.class',
  'tasks.max': 'spec.tasksMax',
  'connector.plugin.version': 'spec.version',
}

/** The field in which a key of a connector's configuration is declared, such as `spec.config[batch.size]`. */
export function fieldForConfigKey(key: string): string {
  return CONNECTOR_FIELDS[key] ?? `spec.config[${key}]`
}

/** The field that a refusal for this reason is about; undefined when it is about the object as a whole. */
export function fieldForReason(reason: ConditionReason, resource: Resource): string | undefined {
  switch (reason) {
    case 'UnknownCluster':
    case 'ClusterConfigInvalid':
    case 'NotAllowed':
      return resource.kind === 'Connector' ? 'spec.workerRef' : 'spec.registryRef'
    case 'Conflict':
    case 'ProtectedName':
    case 'AlreadyExists':
    case 'AlreadySet':
      return NAME_FIELD[resource.kind]
    case 'Incompatible':
    case 'SchemaInvalid':
    case 'SchemaTooLarge':
      return resource.kind === 'Subject' && resource.spec.schemaFrom !== undefined ? 'spec.schemaFrom' : 'spec.schema'
    default:
      return REASON_FIELD[reason]
  }
}

const NAME_FIELD: Readonly<Record<Resource['kind'], string>> = {
  Connector: 'spec.name',
  Subject: 'spec.subject',
  RegistryMode: 'spec.scope',
}

const REASON_FIELD: Readonly<Partial<Record<ConditionReason, string>>> = {
  PluginNotFound: 'spec.class',
  ConfigInvalid: 'spec.config',
  OffsetsRejected: 'spec.offsets.operation',
  AdoptionRefused: 'spec.adoptionPolicy',
  ReferenceInvalid: 'spec.references',
  ReferenceNotFound: 'spec.references',
  ReferenceCycle: 'spec.references',
  ImportConflict: 'spec.imports',
  ScopeNotEmpty: 'spec.mode',
}
