import type { ConditionReason } from '../../common/state-glossary.ts'
import type { Resource } from '../resources/resource.ts'

/** An invalid field of a rejected object: an entry of `status.details.causes` in the API server's response. */
export type FieldCause = { readonly field: string; readonly message: string }

/** Configuration keys that are declared by fields of `spec`. */
const CONNECTOR_FIELDS: Readonly<Record<string, string>> = {
  name: 'spec.name',
  'connector.class': 'spec.class',
  'tasks.max': 'spec.tasksMax',
  'connector.plugin.version': 'spec.version',
}

/** The field that declares a configuration key, such as `spec.config[batch.size]`. */
export function fieldForConfigKey(key: string): string {
  return CONNECTOR_FIELDS[key] ?? `spec.config[${key}]`
}

/** The field that a rejection for this reason refers to; undefined when it refers to the object as a whole. */
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
