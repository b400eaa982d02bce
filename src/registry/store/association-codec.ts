import { type Association, LIFECYCLES } from '../model/association.ts'
import { toSubject } from '../model/subject.ts'
import { type RecordMembers, TENANT, toText } from './record-members.ts'
import type { AssociationKey, RegistryRecord } from './registry-record.ts'

/** Returns the key of an association's record as JSON text, with the members in the order that Confluent writes. */
export function associationKeyText(key: AssociationKey): string {
  const { resourceName, resourceNamespace, resourceType, associationType, subject } = key
  return JSON.stringify({
    keytype: 'ASSOC',
    tenant: TENANT,
    resourceName,
    resourceNamespace,
    resourceType,
    associationType,
    subject,
    magic: 0,
  })
}

export function associationValue(association: Association): RecordMembers {
  const { guid, subject, resourceName, resourceNamespace, resourceId, resourceType } = association
  const { associationType, lifecycle, frozen } = association
  return {
    guid,
    tenant: TENANT,
    resourceName,
    resourceNamespace,
    resourceId,
    resourceType,
    associationType,
    subject,
    lifecycle,
    frozen,
  }
}

/** A null value deletes the association. Throws an `Error` that names the member that cannot be read. */
export function toAssociationRecord(key: RecordMembers, value: RecordMembers | null): RegistryRecord {
  const association: AssociationKey = {
    resourceName: toText(key['resourceName'], 'resourceName'),
    resourceNamespace: toText(key['resourceNamespace'], 'resourceNamespace'),
    resourceType: toText(key['resourceType'], 'resourceType'),
    associationType: toText(key['associationType'], 'associationType'),
    subject: toSubject(toText(key['subject'], 'subject')),
  }
  if (!value) return { kind: 'association', association, value: null }
  const lifecycle = LIFECYCLES.find((word) => word === value['lifecycle'])
  if (!lifecycle) throw new Error(`its lifecycle '${String(value['lifecycle'])}' is unknown`)
  return {
    kind: 'association',
    association,
    value: {
      ...association,
      guid: toText(value['guid'], 'guid'),
      resourceId: toText(value['resourceId'], 'resourceId'),
      lifecycle,
      frozen: value['frozen'] === true,
    },
  }
}
